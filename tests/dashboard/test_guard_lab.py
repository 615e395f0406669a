"""The guard lab on the three sessions of `made_store`, counted by hand."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.dashboard.conftest import OpenPage, texts
from tests.dashboard.made_store import HUNG, hostile, publish, three_kinds


def _numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def test_what_changes_from_the_breaker_to_the_fingerprint(open_page: OpenPage) -> None:
    """Of HUNG's two collisions the breaker answered one, which the fingerprint guard runs; the next is no fact any more."""
    app = open_page("guard_lab")
    assert _numbers(app) == {
        "Collisions released": "1",
        "Replays let through": "0",
        "Replays newly caught": "0",
        "Fresh calls newly blocked": "0",
        "Trips": "0",
    }
    told = texts(app)
    assert "Valid for 8 of 9 calls (1 counterfactual, 0 unknown). The guards differ on 1 of them, in 1 of 4 turns." in told
    assert "Proof: replays still caught 2 of 2, collisions released 1 of 1." in told


def test_the_examples_show_the_arguments_and_the_divergence(open_page: OpenPage) -> None:
    app = open_page("guard_lab")
    split, examples, arguments = (table.value for table in app.dataframe)
    assert split["calls"].sum() == 9
    assert list(examples["call"]) == [f"{HUNG[:8]}:1.2.1"]
    assert list(examples["changes"]) == ["released, collision-released"]
    by_key = {row.argument: tuple(row)[-2:] for row in arguments.itertuples(index=False)}
    assert by_key == {"command": ('"ls"', '"make"'), "dir": ('"/a"', '"/a"')}
    told = texts(app)
    assert "id-breaker: suppress, first divergence in this turn none" in told
    assert "fingerprint: execute, first divergence in this turn at 1.2.1" in told
    assert HUNG in [link.proto.query_string.split("session=")[-1] for link in app.get("page_link")]


def test_the_address_chooses_the_guards(open_page: OpenPage) -> None:
    app = open_page("guard_lab", base="none", candidate="in-force")
    assert [box.value for box in app.selectbox if box.key in ("base", "candidate")] == ["none", "in-force"]
    # HUNG: none diverges at the answer, so the trip behind it is no fact. STOPPED has no divergence of none: both count.
    assert _numbers(app)["Fresh calls newly blocked"] == "1"
    assert _numbers(app)["Replays newly caught"] == "2"
    assert _numbers(app)["Trips"] == "1"


def test_guards_that_decide_alike(open_page: OpenPage) -> None:
    app = open_page("guard_lab", base="fingerprint", candidate="fingerprint")
    assert "The two decide alike wherever history can tell." in texts(app)


def test_filters_apply_and_nothing_is_said_to_be_nothing(open_page: OpenPage) -> None:
    assert "Valid for 3 of 3 calls" in texts(open_page("guard_lab", model="qwen3-coder"))
    assert "No session matches the filters." in texts(open_page("guard_lab", model="no such model"))


def test_splits_by_what_is_asked(open_page: OpenPage) -> None:
    app = open_page("guard_lab", split=["version"])
    assert set(app.dataframe[0].value["version"]) == {"0.21.10", "0.24.4"}


def test_log_text_reaches_nothing_that_reads_markup(open_page: OpenPage, tmp_path: Path) -> None:
    made = hostile()
    made.decisions.append(three_kinds()[0].decisions[0])
    made.decisions[-1].session_id, made.decisions[-1].response_no = made.calls[0].session_id, 1
    db = publish(tmp_path / "hostile.duckdb", [made])
    app = open_page("guard_lab", on=db, base="id-only", candidate="none")
    assert len(app.dataframe[1].value) == 1
    read_as_markup = " ".join(
        str(getattr(one, "value", "")) for kind in ("markdown", "caption", "info") for one in app.get(kind)
    )
    for piece in ("<script", "<b>", "<img", "\x1b", "\\href"):
        assert piece not in read_as_markup
        assert piece == "<b>" or piece not in " ".join(link.proto.label for link in app.get("page_link"))
    assert "\x1b" not in texts(app)
