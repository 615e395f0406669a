"""One session's page: what was decided on each call, and how an address finds it."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from analysis.findings import SessionFindings
from dashboard.call_table import tail
from tests.dashboard.conftest import OpenPage, texts
from tests.dashboard.made_store import HUNG, STOPPED, SUB_AGENT, WELL, publish, session, three_kinds
from tests.support.card_events import CardLog


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
    assert "Evidence: the lines of the log that show this, as FILE:LINE" in shown


def test_calls_show_each_guards_decision_and_where_it_leaves_history(open_page: OpenPage) -> None:
    rows = _table(open_page("session", session=HUNG), "fingerprint")
    told = [[row[name] for name in ("call", "class", "outcome", "id-only", "id-breaker", "fingerprint")] for row in rows]
    assert told == [
        ["1.1.1", "first-use", "● executed", "execute", "execute", "execute"],
        ["1.2.1", "collision", "■ suppressed", "suppress", "suppress", "≠ execute"],
        ["1.3.1", "collision", "✖ dropped", "≠ suppress", "trip", "(execute)"],
    ]
    assert rows[0]["evidence"] == "/logs/0.21.10.jsonl:2"


def test_every_guard_stands_on_a_screen_of_1400_pixels(open_page: OpenPage) -> None:
    """Less the sidebar of 240 and a margin of 32 on both sides."""
    app = open_page("session", session=HUNG)
    (table,) = [table for table in app.dataframe if "fingerprint" in table.value.columns]
    widths = {name: config.get("width") for name, config in json.loads(table.proto.columns).items()}
    shown = list(table.value.columns)[: list(table.value.columns).index("arguments")]
    assert {"none", "id-breaker", "fingerprint"} < set(shown)
    assert sum(widths[name] for name in shown) <= 1400 - 240 - 64
    assert sum(widths[name] for name in shown) > 800


def test_an_id_is_known_by_its_end() -> None:
    assert tail("call_1__qwen_dup_2", 18) == "call_1__qwen_dup_2"
    assert tail("run_shell_command_0__qwen_dup_12", 18) == "…nd_0__qwen_dup_12"


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


def _two_turns() -> SessionFindings:
    """The hung session with a second turn of one call."""
    known, second = three_kinds()[0], three_kinds()[2]
    for rows in (second.turns, second.responses, second.calls):
        for row in rows:
            row.session_id, row.turn_no = HUNG, 2
    known.turns += second.turns
    known.responses += second.responses[:1]
    known.calls += second.calls[:1]
    return known


@pytest.mark.parametrize("place", ["11111111:2", f"{HUNG}:2", "11111111:2.1.1"])
def test_a_place_as_the_commands_write_it_opens_its_turn(place: str, open_page: OpenPage, tmp_path: Path) -> None:
    db = publish(tmp_path / "turns.duckdb", [_two_turns()])
    assert [row["call"] for row in _table(open_page("session", session=HUNG, on=db), "fingerprint")] == [
        "1.1.1", "1.2.1", "1.3.1", "2.1.1",
    ]  # fmt: skip
    app = open_page("session", session=place, on=db)
    assert [row["call"] for row in _table(app, "fingerprint")] == ["2.1.1"]
    assert [row["turn"] for row in _table(app, "model told")] == [2]
    assert "Turn 2 of 2" in texts(app)
    assert [(link.proto.label, link.proto.query_string) for link in app.get("page_link")] == [("All turns", f"session={HUNG}")]


@pytest.mark.parametrize("turn", ["9", "999999999"])
def test_a_turn_that_is_not_there_is_named_and_all_are_shown(turn: str, open_page: OpenPage) -> None:
    app = open_page("session", session=f"11111111:{turn}")
    assert f"The session has no turn {turn}; these are all." in texts(app)
    assert len(_table(app, "fingerprint")) == 3


def test_an_id_that_ends_like_a_place_is_meant_as_a_whole(open_page: OpenPage, tmp_path: Path) -> None:
    odd = session(
        "edit:1", [("a", "first-use", "executed", "{}")], verdict="completed", reason="whole", guard="none", version="-"
    )
    app = open_page("session", session="edit:1", on=publish(tmp_path / "odd.duckdb", [odd]))
    assert "whole" in texts(app)
    assert "All turns" not in [link.proto.label for link in app.get("page_link")]
    assert "knows no session of this id" in texts(open_page("session", session="edit:" + "9" * 5000))


def test_which_session_was_meant_is_asked_and_the_turn_is_kept(open_page: OpenPage, tmp_path: Path) -> None:
    alike = [session(f"s{n}", [], verdict="completed", reason="-", guard="none", version="-") for n in (1, 2)]
    app = open_page("session", session="s:1", on=publish(tmp_path / "alike.duckdb", alike))
    assert [link.proto.query_string for link in app.get("page_link")] == ["session=s1%3A1", "session=s2%3A1"]


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


def test_each_guards_sums_stand_beside_their_coverage(open_page: OpenPage) -> None:
    rows = _table(open_page("session", session=HUNG), "coverage")
    assert rows[0] == {
        "guard": "id-breaker, in force",
        "coverage": "valid for 3 of 3 calls",
        "execute": 1,
        "suppress": 1,
        "trip": 1,
        "drop": 0,
    }
    told = {row["guard"]: (row["coverage"], row["execute"], row["suppress"]) for row in rows}
    assert told["fingerprint"] == ("valid for 2 of 3 calls", 2, 0), "the third call is a guess"
    assert told["id-only"] == ("valid for 3 of 3 calls", 1, 2)


def test_the_head_says_what_the_log_cannot_show(open_page: OpenPage, tmp_path: Path) -> None:
    assert "duplicates within one response: not in this kind of log" in texts(open_page("session", session=HUNG))
    known = three_kinds()
    assert known[0].session is not None
    known[0].session.same_response_duplicates, known[0].session.loop_detection = 2, "off"
    shown = texts(open_page("session", session=HUNG, on=publish(tmp_path / "known.duckdb", known)))
    assert "duplicates within one response: 2" in shown
    assert "qwen-code 0.21.10, acp, its loop detection off" in shown


def test_a_stopped_turn_says_whether_the_model_was_told(open_page: OpenPage, tmp_path: Path) -> None:
    def told(of: str, on: Path | None = None) -> list[str]:
        return [row["model told"] for row in _table(open_page("session", session=of, on=on), "model told")]

    assert told(STOPPED) == ["not known"]
    assert told(HUNG) == ["not known"], "the breaker stopped it, though in silence"
    assert told(WELL) == [""]
    known = three_kinds()
    known[1].turns[0].context_kept = True
    assert told(STOPPED, publish(tmp_path / "told.duckdb", known)) == ["yes"]


def _with_cards(tmp_path: Path) -> Path:
    """One id twice in a response and one result, and of another session only the cards."""
    log = CardLog().round().delta(0, "t1").delta(1, "t1").start("t1", {"n": 1}).start("t1", {"n": 1}).completed("t1", lines=183)
    of_session = session(
        "s", [("t1", "first-use", "executed", "{}")], verdict="completed", reason="-", guard="none", version="-"
    )
    of_session.cards, of_session.card_remedies = log.found().cards, log.found().card_remedies
    alone = CardLog().round().start("<b>t2</b>", {"n": 1}).start("<b>t2</b>", {"n": 1}).found()
    for card in alone.cards:
        card.session_id = "known by its cards"
    for remedy in alone.card_remedies:
        remedy.session_id = "known by its cards"
    alone.findings.clear()
    return publish(tmp_path / "cards.duckdb", [of_session, alone])


def test_cards_say_which_is_stuck_and_what_would_have_helped_under_either_search(open_page: OpenPage, tmp_path: Path) -> None:
    db = _with_cards(tmp_path)
    app = open_page("session", session="s", on=db)
    assert "2 cards: 2 double or stuck, 1 stuck." in texts(app)
    told = [(row["card"], row["state"], row["lines"], row["cause"]) for row in _table(app, "ends right under")]
    # Both numbers of the report: nothing shown by one card, 183 lines by the other.
    assert told == [(1, "running, stuck", 0, "same-response"), (2, "completed", 183, "same-response")]
    remedies = {row["remedy"]: row for row in _table(app, "loses")}
    assert (remedies["none"]["waiting"], remedies["start-once-per-id"]["waiting"]) == (1, 0)
    assert remedies["placeholder-ids"]["loses"].startswith("runs 1 call a second time")
    app = open_page("session", session="s", on=db, search="forward")
    assert [row["state"] for row in _table(app, "ends right under")] == ["completed", "running, stuck"]


def test_a_session_known_by_its_cards_alone_shows_them(open_page: OpenPage, tmp_path: Path) -> None:
    app = open_page("session", session="known", on=_with_cards(tmp_path))
    assert "known by its cards: no log of it, only what an interface was told." in texts(app)
    assert {row["id"] for row in _table(app, "ends right under")} == {"<b>t2</b>"}


def test_findings_say_what_they_cost_as_far_as_the_log_tells(open_page: OpenPage, tmp_path: Path) -> None:
    (row,) = _table(open_page("session", session=HUNG), "what to try")
    assert [name for name in row if name.startswith("wasted")] == []
    known = three_kinds()
    known[0].findings[0].wasted_calls, known[0].findings[0].wasted_tokens = 2, 4500
    (row,) = _table(open_page("session", session=HUNG, on=publish(tmp_path / "cost.duckdb", known)), "what to try")
    assert {name: row[name] for name in row if name.startswith("wasted")} == {"wasted calls": 2, "wasted tokens": 4500}


def test_no_interface_no_cards(open_page: OpenPage) -> None:
    assert "Tool cards" not in texts(open_page("session", session=HUNG))
