"""With nothing to show, every page says what is the matter and what to run."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboard.conftest import APP, OpenPage, texts
from tests.dashboard.made_store import publish, three_kinds

PAGES = ("overview", "sessions", "session")


@pytest.mark.parametrize("page", PAGES)
def test_no_store(open_page: OpenPage, tmp_path: Path, page: str) -> None:
    missing = tmp_path / "none.duckdb"
    shown = texts(open_page(page, on=missing))
    assert "There is no store yet." in shown
    assert f"loopscope ingest --db {missing} PATH" in shown


@pytest.mark.parametrize("page", PAGES)
def test_empty_store(open_page: OpenPage, tmp_path: Path, page: str) -> None:
    empty = publish(tmp_path / "empty.duckdb", [])
    shown = texts(open_page(page, on=empty))
    assert "The store holds no session." in shown
    assert f"loopscope ingest --db {empty} PATH" in shown


def test_damaged_store(open_page: OpenPage, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.duckdb"
    damaged.write_bytes(b"no database" * 1000)
    shown = texts(open_page(on=damaged))
    assert "The store cannot be read." in shown
    assert str(damaged) in shown


def test_no_store_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOPSCOPE_DB", raising=False)
    app = AppTest.from_file(APP, default_timeout=60).run()
    assert not app.exception
    assert "loopscope serve" in texts(app)


@pytest.mark.parametrize("page", PAGES)
def test_the_label_of_a_store_stands_on_every_page(open_page: OpenPage, tmp_path: Path, page: str) -> None:
    labelled = publish(tmp_path / "demo.duckdb", three_kinds(), label="Demo: shifted time stamps")
    assert "Demo: shifted time stamps" in texts(open_page(page, on=labelled))


def test_a_store_without_a_label_is_not_called_a_demo(open_page: OpenPage) -> None:
    assert "not your data" not in texts(open_page())


def test_a_republished_store_is_seen_at_once(open_page: OpenPage, db: Path) -> None:
    app = open_page()
    assert app.metric[4].value == "3"
    other = publish(db.with_name("other.duckdb"), three_kinds()[:1])
    other.replace(db)
    app.run()
    assert app.metric[4].value == "1"
