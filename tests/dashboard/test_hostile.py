"""What a log says is shown and never obeyed: no Markdown, no HTML, no escape sequence, no link but to our own pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dashboard.conftest import OpenPage
from tests.dashboard.made_store import HOSTILE, HOSTILE_MODEL, hostile, publish

MARKUP_READERS = ("markdown", "caption", "title", "header", "subheader", "info", "warning", "error", "success", "html", "latex")


@pytest.mark.parametrize("page", ["overview", "sessions", "session"])
def test_log_text_reaches_nothing_that_reads_markup(open_page: OpenPage, tmp_path: Path, page: str) -> None:
    db = publish(tmp_path / "hostile.duckdb", [hostile()], label="<b>label</b> [x](https://example.org)")
    app = open_page(page, on=db, **({"session": HOSTILE} if page == "session" else {}))
    read_as_markup = " ".join(str(getattr(element, "value", "")) for kind in MARKUP_READERS for element in app.get(kind))
    for piece in ("<script", "<a ", "<b>", "<img", "**", "](", "\x1b", "\\href"):
        assert piece not in read_as_markup
    plain = " ".join(str(text.value) for text in app.text)
    assert "\x1b" not in plain
    assert "<b>label</b> [x](https://example.org)" in plain, "shown as it is"
    for link in app.get("page_link"):
        assert not set(link.proto.label) & set("<>[]*_`$:\\")
        assert not link.proto.external
    for chart in app.get("plotly_chart"):
        figure = chart.proto.spec.replace("\\u003c", "<")
        for piece in ("<a", "<script", "<img", "\\u001b"):
            assert piece not in figure


def test_a_session_may_be_called_anything_and_still_be_opened(open_page: OpenPage, tmp_path: Path) -> None:
    db = publish(tmp_path / "hostile.duckdb", [hostile()])
    table = open_page("sessions", on=db).dataframe[0].value
    assert table["link"][0].startswith("/session?session=44444444-%3Cscript%3E")
    assert table["models"][0] == HOSTILE_MODEL, "a table's cell is drawn as it is"
    assert "\x1b" not in table["reason"][0]
    assert "1 turn, 1 call" in " ".join(str(text.value) for text in open_page("session", on=db, session=HOSTILE).text)
