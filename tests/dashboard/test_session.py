"""One session's page: what was decided on each call, and how an address finds it."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.dashboard.conftest import OpenPage, texts
from tests.dashboard.made_store import HUNG, STOPPED, SUB_AGENT, WELL


def _table(app: AppTest, column: str) -> list[dict[str, Any]]:
    """The rows of the table that has this column."""
    (frame,) = [table.value for table in app.dataframe if column in table.value.columns]
    rows: list[dict[str, Any]] = frame.to_dict("records")
    return rows


def test_header_says_verdict_reason_advice_counts_and_proof(open_page: OpenPage) -> None:
    app = open_page("session", session=HUNG)
    shown = texts(app)
    assert "the breaker ended the turn and nobody was told\n→ update the client to 0.23 or later" in shown
    assert "1 turn, 3 calls: 0 replays, 2 collisions, 1 trip" in shown
    assert "guard in force: id-breaker" in shown
    assert "confidence: certain" in shown
    assert "/logs/a.jsonl:5\n/logs/a.jsonl:7" in shown


def test_calls_show_each_guards_decision_and_where_it_leaves_history(open_page: OpenPage) -> None:
    rows = _table(open_page("session", session=HUNG), "fingerprint")
    told = [[row[name] for name in ("call", "class", "outcome", "id-only", "id-breaker", "fingerprint")] for row in rows]
    assert told == [
        ["1.1.1", "first-use", "● executed", "execute", "execute", "execute"],
        ["1.2.1", "collision", "■ suppressed", "suppress", "suppress", "≠ execute"],
        ["1.3.1", "collision", "✖ dropped", "≠ suppress", "trip", "(execute)"],
    ]
    assert rows[0]["evidence"] == "/logs/0.21.10.jsonl:2"


def test_arguments_of_a_collision_stand_side_by_side(open_page: OpenPage) -> None:
    app = open_page("session", session=HUNG)
    rows = _table(app, "argument")
    assert list(rows[0]) == ["", "argument", "1.1.1  run_shell_command: executed", "1.2.1  run_shell_command: suppressed"]
    assert [list(row.values()) for row in rows] == [["≠", "command", '"ls"', '"make"'], ["=", "dir", '"/a"', '"/a"']]
    rows = _table(open_page("session", session=HUNG, call="1.3.1"), "argument")
    assert [list(row.values()) for row in rows] == [["≠", "command", '"ls"', '"make test"'], ["≠", "dir", '"/a"', ""]]


def test_trips_name_the_guard_in_force_and_what_it_fired_on(open_page: OpenPage) -> None:
    rows = _table(open_page("session", session=STOPPED), "fired on")
    assert [row["guard"] for row in rows] == ["fingerprint, in force", "any-fingerprint", "id-breaker"]
    assert {row["fired on"] for row in rows} == {"replay"}
    assert [row["told the user"] for row in rows] == ["yes"] * 3


def test_loop_events_say_what_explains_them(open_page: OpenPage) -> None:
    (event,) = _table(open_page("session", session=STOPPED), "explained by")
    assert (event["type"], event["explained by"]) == ("global_tool_call_duplicate", "guard-trip")


def test_sub_agent_and_parent_link_to_each_other(open_page: OpenPage) -> None:
    def linked(app: AppTest) -> list[str]:
        return [link.proto.query_string for link in app.get("page_link")]

    assert linked(open_page("session", session=WELL)) == [
        "session=33333333-aaaa-4000-8000-000000000003%2Fagent-general-purpose-call_task"
    ]
    assert linked(open_page("session", session=SUB_AGENT)) == [f"session={WELL}"]


def test_the_beginning_of_an_id_will_do(open_page: OpenPage) -> None:
    assert HUNG in texts(open_page("session", session="111"))


def test_no_session_named_leads_to_the_list(open_page: OpenPage) -> None:
    assert "choose one from the list" in texts(open_page("session"))


def test_an_unknown_session_says_what_to_run(open_page: OpenPage) -> None:
    shown = texts(open_page("session", session="nowhere"))
    assert "knows no session of this id" in shown
    assert "loopscope ingest PATH" in shown


def test_a_session_that_the_filters_hide_is_not_called_unknown(open_page: OpenPage) -> None:
    app = open_page("session", session=HUNG, model="qwen3-coder")
    assert "The filters hide this session." in texts(app)
    app.button[0].click().run()
    assert "1 turn, 3 calls" in texts(app)
