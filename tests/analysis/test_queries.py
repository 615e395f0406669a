"""The named queries, each on stores whose answer is known by counting."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis import queries
from analysis.findings import DecisionRow, DivergenceRow, SessionFindings
from analysis.reading import Filters, open_store
from ingest.errors import LoopscopeError, StoreDamaged
from tests.support.found_rows import NOON, finding, publish, session

NAMES = sorted(file.name.removesuffix(".sql") for file in resources.files("analysis").joinpath("sql").iterdir())


def given(name: str) -> dict[str, object]:
    """Some value for each parameter of a query: lists where it asks for their length, else text that fits nothing."""
    text = queries.text_of(name)
    values: dict[str, object] = {}
    for parameter in set(re.findall(r"\$(\w+)", text)):
        is_list = f"len(${parameter})" in text
        is_number = re.search(rf"(LIMIT|OFFSET) \${parameter}", text)
        is_truth = re.search(rf"\(\${parameter} OR", text)
        values[parameter] = [] if is_list else 5 if is_number else True if is_truth else "nothing is called so"
    return values


@pytest.fixture(scope="module")
def empty_and_full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("stores")
    return publish(folder / "empty.duckdb"), publish(folder / "full.duckdb", session("s"))


@pytest.mark.parametrize("name", NAMES)
def test_a_query_answers_on_an_empty_and_on_a_full_store(name: str, empty_and_full: tuple[Path, Path]) -> None:
    columns = []
    for path in empty_and_full:
        with closing(open_store(path)) as con:
            columns.append(queries.run(con, name, **given(name)).columns)
            assert queries.frame(con, name, **given(name)).columns == columns[-1]
    assert columns[0] == columns[1]
    assert len(set(columns[0])) == len(columns[0]) > 0


def test_a_query_of_ours_that_the_store_cannot_answer_is_explained(tmp_path: Path) -> None:
    path = publish(tmp_path / "store.duckdb", session("s"))
    with duckdb.connect(path) as con:
        con.execute("DROP VIEW findings")
    with closing(open_store(path)) as con:
        with pytest.raises(StoreDamaged, match=r"query triage.*findings.*loopscope ingest"):
            queries.run(con, "triage")
        with pytest.raises(StoreDamaged, match="query triage"):
            queries.frame(con, "triage")


def test_a_query_of_ours_that_needs_too_much_memory_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "text_of", lambda _: "SELECT list(range) FROM range(20000000)")
    path = publish(tmp_path / "store.duckdb")
    with closing(open_store(path, memory_limit="20MB")) as con, pytest.raises(LoopscopeError, match="sql_memory_limit"):
        queries.run(con, "triage")


def test_columns_of_one_name_are_all_kept(tmp_path: Path) -> None:
    with closing(open_store(publish(tmp_path / "store.duckdb"))) as con:
        columns = queries.columns_of(con.execute("SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a"))
    assert columns == ["a", "a_2", "a_2_2", "a_3"]


class TestTriage:
    def order(self, path: Path, as_of: datetime | None = None) -> list[tuple[object, ...]]:
        with closing(open_store(path, as_of=as_of)) as con:
            return [(row["severity"], row["kind"], row["session_id"]) for row in queries.run(con, "triage").dicts()]

    def made(self, session_id: str, kind: str, severity: int, *, days_ago: int = 0, **of_turn: Any) -> SessionFindings:
        made = session(session_id, start=NOON - timedelta(days=days_ago), **of_turn)
        made.findings = [finding(session_id, 1, kind, severity)]
        return made

    def test_worst_first_and_newest_first_among_equals(self, tmp_path: Path) -> None:
        path = publish(
            tmp_path / "store.duckdb",
            self.made("cut", "cut-off", 6),
            self.made("killed", "fresh-calls-blocked", 3),
            self.made("old-loop", "replay-loop", 2, days_ago=3),
            self.made("new-loop", "replay-loop", 2, days_ago=1),
            self.made("hung", "silent-hang", 1, days_ago=9),
        )
        assert self.order(path) == [
            ("critical", "silent-hang", "hung"),
            ("high", "replay-loop", "new-loop"),
            ("high", "replay-loop", "old-loop"),
            ("medium", "fresh-calls-blocked", "killed"),
            ("low", "cut-off", "cut"),
        ]

    def test_how_a_turn_ended_is_not_said_while_it_runs(self, tmp_path: Path) -> None:
        path = publish(
            tmp_path / "store.duckdb",
            self.made("cut", "cut-off", 6, verdict="truncated", open_ended=True),
            self.made("looping", "replay-loop", 2, verdict="truncated", open_ended=True),
        )
        fresh, later = NOON + timedelta(minutes=12), NOON + timedelta(minutes=60)
        assert self.order(path, fresh) == [("high", "replay-loop", "looping")]
        assert self.order(path, later) == [("high", "replay-loop", "looping"), ("low", "cut-off", "cut")]

    def test_a_finding_of_a_session_takes_the_sessions_place(self, tmp_path: Path) -> None:
        made = session("s", models=("kimi-k3", "glm"))
        made.findings = [finding("s", None)]
        with closing(open_store(publish(tmp_path / "store.duckdb", made))) as con:
            (row,) = queries.run(con, "triage").dicts()
        assert row["turn_no"] is None
        assert (row["model"], row["client_version"], row["entry_point"]) == ("kimi-k3", "0.24.4", "acp")
        assert row["evidence"] == ["/a/long/way/to/chats/log.jsonl:7"]


class TestSessionResolve:
    @pytest.mark.parametrize(
        ("text", "meant"),
        [
            ("ab", ["ab"]),
            ("abc", ["abcd", "abce"]),
            ("abcd", ["abcd"]),
            ("abcd/", ["abcd/agent-one", "abcd/agent-two"]),
            ("abcd/agent-o", ["abcd/agent-one"]),
            ("ab/agent-t", ["abcd/agent-two"]),
            # Its parent's log is not here.
            ("zz", ["zzz/agent-lonely"]),
            ("x", []),
            ("abc%", []),
            ("' OR true --", []),
        ],
    )
    def test_exact_before_prefix_before_sub_agent(self, text: str, meant: list[str], tmp_path: Path) -> None:
        path = publish(
            tmp_path / "store.duckdb",
            *(session(session_id) for session_id in ("ab", "abcd", "abce")),
            *(session(session_id, parent="p") for session_id in ("abcd/agent-one", "abcd/agent-two", "zzz/agent-lonely")),
        )
        # Whatever the filters: a session that they hide is not one that does not exist.
        with closing(open_store(path, Filters(model="no such model"))) as con:
            assert [row[0] for row in queries.run(con, "session_resolve", session=text).rows] == meant


@pytest.mark.parametrize(
    ("ids", "length"),
    [
        (["0123456789", "1123456789"], 8),
        (["0123456789", "0123456700"], 12),
        (["x" * 40 + "1", "x" * 40 + "2"], None),
        ([], None),
    ],
)
def test_short_ids_are_as_long_as_it_takes(ids: list[str], length: int | None, tmp_path: Path) -> None:
    path = publish(tmp_path / "store.duckdb", *(session(session_id) for session_id in ids))
    with closing(open_store(path)) as con:
        assert queries.run(con, "short_id_length").rows == [(length,)]


def three_calls(session_id: str, *, diverges_at: int | None) -> SessionFindings:
    """One turn of three responses. id-breaker suppresses the second and trips on the third; fingerprint runs all three."""
    made = session(session_id)
    first = made.calls[0]
    made.calls = [
        type(first)(
            **{**{name: getattr(first, name) for name in first.__struct_fields__}, "response_no": no, "call_class": word}
        )
        for no, word in ((1, "first-use"), (2, "collision"), (3, "collision"))
    ]
    made.decisions = [
        DecisionRow(guard="id-breaker", session_id=session_id, turn_no=1, response_no=no, call_no=1, decision=decision)
        for no, decision in ((2, "suppress"), (3, "trip"))
    ]
    made.trips[0].response_no = 3
    made.divergences = (
        [DivergenceRow(guard="id-breaker", session_id=session_id, turn_no=1, response_no=diverges_at, call_no=1)]
        if diverges_at
        else []
    )
    return made


def pairs_of(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    unsplit = {"by_model": False, "by_version": False, "by_entry_point": False}
    return queries.run(con, "guard_diff", base="id-breaker", candidate="fingerprint", **unsplit).dicts()


def test_two_guards_are_compared_on_facts_and_apart_from_them(tmp_path: Path) -> None:
    path = publish(tmp_path / "store.duckdb", three_calls("s", diverges_at=2))
    with closing(open_store(path)) as con:
        pairs = pairs_of(con)
        (coverage,) = queries.run(con, "guard_diff_coverage", base="id-breaker", candidate="fingerprint").dicts()
    told = [(p["basis"], p["base_decision"], p["candidate_decision"], p["class"], p["calls"]) for p in pairs]
    assert told == [
        ("observed", "suppress", "execute", "collision", 1),
        ("observed", "execute", "execute", "first-use", 1),
        ("counterfactual", "trip", "execute", "collision", 1),
    ]
    assert [p["same"] for p in pairs] == [False, True, False]
    assert coverage == {
        "calls": 3,
        "valid_calls": 2,
        "unknown_calls": 0,
        "counterfactual_calls": 1,
        "differing_calls": 1,
        "turns": 1,
        "differing_turns": 1,
        "sessions": 1,
        "base_executes": 1,
        "base_blocks": 1,
        "base_trips": 0,
        "base_blocks_collisions": 1,
        "base_catches_replays": 0,
        "base_misses_replays": 0,
        "base_blocks_re_runs": 0,
        "re_runs_released": 0,
    }


def test_a_call_after_a_guards_trip_is_not_reached_and_no_fact(tmp_path: Path) -> None:
    made = three_calls("s", diverges_at=None)
    made.decisions = [DecisionRow(guard="id-breaker", session_id="s", turn_no=1, response_no=1, call_no=1, decision="trip")]
    made.trips[0].response_no = 1
    with closing(open_store(publish(tmp_path / "store.duckdb", made))) as con:
        pairs = pairs_of(con)
    assert [(p["basis"], p["base_decision"], p["candidate_decision"], p["calls"]) for p in pairs] == [
        ("observed", "trip", "execute", 1),
        ("counterfactual", "not-reached", "execute", 2),
    ]


def test_a_call_that_no_guard_can_judge_is_not_valid(tmp_path: Path) -> None:
    made = session("s", models=("a", "b"))
    made.trips, made.divergences = [], []
    made.decisions = [DecisionRow(guard="fingerprint", session_id="s", turn_no=2, response_no=1, call_no=1, decision="unknown")]
    with closing(open_store(publish(tmp_path / "store.duckdb", made))) as con:
        (coverage,) = queries.run(con, "guard_diff_coverage", base="id-breaker", candidate="fingerprint").dicts()
    assert (coverage["calls"], coverage["valid_calls"], coverage["unknown_calls"]) == (2, 1, 1)
    assert coverage["differing_calls"] == 0


def test_a_forks_copies_are_compared_once(tmp_path: Path) -> None:
    original, fork = session("s"), session("fork")
    assert fork.session is not None
    fork.session.forked_from = "s"
    fork.turns[0].inherited = fork.calls[0].inherited = True
    with closing(open_store(publish(tmp_path / "store.duckdb", original, fork))) as con:
        (coverage,) = queries.run(con, "guard_diff_coverage", base="id-breaker", candidate="fingerprint").dicts()
    assert coverage["calls"] == 1


def test_a_collision_stands_beside_the_call_that_took_the_id(tmp_path: Path) -> None:
    made = session("s", models=("m",) * 4)
    for call, word in zip(made.calls, ("first-use", "first-use", "collision", "first-use"), strict=True):
        call.provider_id, call.call_class, call.args_json = "shell_0", word, f'{{"n":{call.turn_no}}}'
    with closing(open_store(publish(tmp_path / "store.duckdb", made))) as con:
        (pair,) = queries.run(con, "session_collisions", session="s").dicts()
    # The id was freed between turns 1 and 2, so turn 2's call is what the guard compares with.
    assert (pair["turn_no"], pair["args_json"]) == (3, '{"n":3}')
    assert (pair["first_turn_no"], pair["first_args_json"]) == (2, '{"n":2}')
