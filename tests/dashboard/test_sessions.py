"""The list of sessions: filters, order and what the address keeps of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from analysis.findings import FindingRow, SessionFindings
from cli.main import run
from tests.dashboard.conftest import OpenPage, texts
from tests.dashboard.made_store import HUNG, STOPPED, SUB_AGENT, WELL, publish, session, three_kinds


def _ids(app: AppTest) -> list[str]:
    return _column(app, "id")


def _column(app: AppTest, name: str) -> list[Any]:
    return list(app.dataframe[0].value[name])


def test_worst_first_by_default(open_page: OpenPage) -> None:
    app = open_page("sessions")
    assert _ids(app) == [HUNG, STOPPED, WELL]
    assert _column(app, "verdict") == ["■ silent-hang", "◆ stopped-visibly", "● completed"]
    assert "3 sessions" in texts(app)


def test_the_address_orders_and_filters(open_page: OpenPage) -> None:
    assert _ids(open_page("sessions", order="newest")) == [WELL, STOPPED, HUNG]
    assert _ids(open_page("sessions", order="replays")) == [STOPPED, WELL, HUNG]
    assert _ids(open_page("sessions", verdict=["completed", "silent-hang"])) == [HUNG, WELL]
    assert _ids(open_page("sessions", worst="stopped-visibly")) == [STOPPED]
    assert _ids(open_page("sessions", entry="headless")) == [WELL]
    assert _ids(open_page("sessions", model="kimi-k3")) == [HUNG, WELL]


def test_text_is_looked_for_in_id_folder_model_and_reason_whatever_the_case(open_page: OpenPage) -> None:
    assert _ids(open_page("sessions", text="22222222")) == [STOPPED]
    assert _ids(open_page("sessions", text="Nobody was told")) == [HUNG]
    assert _ids(open_page("sessions", text="QWEN3")) == [STOPPED]
    assert len(_ids(open_page("sessions", text="/shop"))) == 3


def test_text_is_no_pattern(open_page: OpenPage) -> None:
    assert "No session matches" in texts(open_page("sessions", text="%"))
    assert "No session matches" in texts(open_page("sessions", text="' OR true --"))


def test_sub_agents_are_shown_when_asked_for(open_page: OpenPage) -> None:
    app = open_page("sessions", subagents="true")
    assert SUB_AGENT in _ids(app)
    assert "3 sessions, 1 sub-agent" in texts(app).splitlines()
    assert "1 session" in texts(open_page("sessions", worst="stopped-visibly")).splitlines()


def test_a_row_links_to_the_session_page_and_keeps_the_filters(open_page: OpenPage) -> None:
    app = open_page("sessions", model="qwen3-coder")
    assert _column(app, "link") == [f"/session?model=qwen3-coder&session={STOPPED}"]


def _finding_of(found: SessionFindings, kind: str, severity: int) -> None:
    assert found.session is not None
    found.findings.append(
        FindingRow(
            finding_id=f"{kind}-{found.session.session_id}", kind=kind, session_id=found.session.session_id, turn_no=1,
            severity=severity, reason="-", confidence="certain", evidence=[], what_to_try="-",
        )
    )  # fmt: skip


def test_a_finding_weighs_more_than_a_verdict_as_in_triage(
    open_page: OpenPage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = three_kinds()
    _finding_of(known[2], "text-loop", 2)
    _finding_of(known[2], "fresh-calls-blocked", 3)
    failed = session(
        "failed", [("a", "first-use", "executed", "{}")], verdict="provider-error", reason="-", guard="none", version="-", day=9
    )
    db = publish(tmp_path / "looped.duckdb", [*known, failed])
    app = open_page("sessions", on=db)
    assert _ids(app) == [HUNG, WELL, STOPPED, "failed"], "it looped and completed; what has no finding comes last, however new"
    assert _column(app, "finding") == ["critical: silent-hang", "high: text-loop", "medium: guard-trip", ""]
    assert run(["triage", "--db", str(db), "--format", "json"]) == 0
    triage = [row["session_id"] for row in json.loads(capsys.readouterr().out)]
    assert list(dict.fromkeys(triage)) == [HUNG, WELL, STOPPED]


def test_of_equal_findings_the_newest_is_first(open_page: OpenPage, tmp_path: Path) -> None:
    known = three_kinds()
    _finding_of(known[2], "silent-hang", 1)
    assert _ids(open_page("sessions", on=publish(tmp_path / "equal.duckdb", known))) == [WELL, HUNG, STOPPED]
