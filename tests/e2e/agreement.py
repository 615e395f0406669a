"""What the store says of a run, against what the run really did: each decision of the guard in force, each id, each end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from tests.e2e.scenario import Scenario
from tests.e2e.truth import CallTruth, RunTruth, TurnTruth

LONG_AFTER = "2100-01-01"
"""The clock of the comparison: no run is fresh any more, so none is `running`."""

OUTCOMES = {
    ("execute", True): {"executed", "unanswered"},
    ("execute", False): {"failed"},
    ("suppress", False): {"suppressed"},
    ("stop", False): {"dropped", "skipped"},
}
"""By what was done with a call and whether its side effect was seen. Any other pair is the client contradicting itself."""

DECISIONS = {"execute": {"execute"}, "suppress": {"suppress"}, "stop": {"trip", "drop"}}

Batches = list[list[dict[str, Any]]]


class Agreement:
    """The store is read through its public views only."""

    def __init__(self, store: duckdb.DuckDBPyConnection) -> None:
        store.execute(f"SET VARIABLE as_of = TIMESTAMP '{LONG_AFTER}'")
        self._store = store
        self.compared: Counter[str] = Counter()
        self.disagreements: list[str] = []

    def compare(self, truth: RunTruth, qwen_home: Path) -> None:
        self.compared["runs"] += 1
        session_ids = {log.stem for log in qwen_home.glob("projects/*/chats/*.jsonl") if "." not in log.stem}
        if len(session_ids) != 1:
            self._disagree(truth, f"{len(session_ids)} session logs, not 1")
            return
        (session_id,) = session_ids
        found = self._turns(session_id)
        if len(found) != len(truth.turns):
            self._disagree(truth, f"{len(found)} turns of the user, not {len(truth.turns)}")
        for number, (turn, rows) in enumerate(zip(truth.turns, found, strict=False), 1):
            self._compare_turn(truth, f"turn {number}", turn, rows)
        told = [turn for turn in truth.turns if turn.sub_agent]
        sub_agents = self._rows(
            "SELECT session_id, verdict FROM sessions WHERE parent_session_id = ? ORDER BY started_at", session_id
        )
        if len(sub_agents) not in (0, len(told)):
            self._disagree(truth, f"{len(sub_agents)} sub-agents, not {len(told)}")
        for turn, sub_agent in zip(told, sub_agents, strict=False):  # the oldest client writes them no log
            self._compare_sub_agent(truth, turn.sub_agent, sub_agent)

    def _compare_turn(self, truth: RunTruth, at: str, turn: TurnTruth, rows: Sequence[dict[str, Any]]) -> None:
        last = rows[-1]
        self._check(truth, "turn ends", f"{at}: verdict", last["verdict"], {turn.end})
        self._check(truth, "guards in force", f"{at}: guard in force", last["guard_in_force"], {truth.guard})
        # The oldest daemon leaves nothing in its log to tell it by.
        self._check(truth, "entry points", f"{at}: entry point", last["entry_point"], {truth.entry_point, "unknown"})
        batches = [batch for row in rows for batch in self._batches(row["session_id"], row["turn_no"])]
        self._compare_calls(truth, at, turn.responses, batches)
        trips = sum(row["trips"] for row in rows)
        self._check(truth, "trips", f"{at}: trips", trips, {int(_is_stopped(turn.responses))})

    def _compare_sub_agent(self, truth: RunTruth, responses: list[list[CallTruth]], sub_agent: dict[str, Any]) -> None:
        self.compared["sub-agents"] += 1
        (row,) = self._turns(sub_agent["session_id"])[0]
        stopped = _is_stopped(responses)
        self._check(truth, "trips", "sub-agent: trips", row["trips"], {int(stopped)})
        self._check(truth, "turn ends", "sub-agent: verdict", row["verdict"], {"stopped-visibly" if stopped else "completed"})
        logged = responses[:-1] if stopped else responses  # no log has the calls with which a sub-agent was stopped
        self._compare_calls(truth, "sub-agent", logged, self._batches(row["session_id"], row["turn_no"]))

    def _compare_calls(self, truth: RunTruth, at: str, responses: list[list[CallTruth]], batches: Batches) -> None:
        found, really = list(map(len, batches)), list(map(len, responses))
        if found != really:
            self._disagree(truth, f"{at}: calls in each response {found}, not {really}")
        for response_no, (calls, batch) in enumerate(zip(responses, batches, strict=False), 1):
            for call_no, (call, row) in enumerate(zip(calls, batch, strict=False), 1):
                place = f"{at} response {response_no} call {call_no} ({call.sent_id} {call.mark})"
                self.compared["calls"] += 1
                self._check(truth, "decisions", f"{place}: {truth.guard} decides", row["decision"], DECISIONS[call.done])
                if call.mark is not None:
                    allowed = OUTCOMES.get((call.done, call.ran), set())
                    self._check(truth, "side effects", f"{place}: outcome", row["outcome"], allowed)
                self._check(truth, "provider ids", f"{place}: provider id", row["provider_id"], _ids(call))

    def _turns(self, session_id: str) -> list[list[dict[str, Any]]]:
        """The rows of each turn of the user: a notification's turn belongs to the one before it."""
        turns: list[list[dict[str, Any]]] = []
        for row in self._rows(
            """
            SELECT session_id, turn_no, origin, verdict, guard_in_force, entry_point,
                   (SELECT count(*) FROM trips p WHERE p.session_id = t.session_id AND p.turn_no = t.turn_no
                       AND p.guard = t.guard_in_force AND p.basis = 'observed') AS trips
            FROM turns t WHERE session_id = ? ORDER BY turn_no
            """,
            session_id,
        ):
            if row["origin"] in ("user", "sub-agent") or not turns:
                turns.append([])
            turns[-1].append(row)
        return turns

    def _batches(self, session_id: str, turn_no: int) -> Batches:
        batches: dict[int, list[dict[str, Any]]] = {}
        for row in self._rows(
            """
            SELECT c.response_no, c.provider_id, c.outcome,
                   d.decision || if(d.basis = 'observed', '', ' ' || d.basis) AS decision
            FROM calls c JOIN turns t USING (session_id, turn_no)
            LEFT JOIN decisions d ON d.guard = t.guard_in_force AND d.session_id = c.session_id AND d.turn_no = c.turn_no
                                 AND d.response_no = c.response_no AND d.call_no = c.call_no
            WHERE c.session_id = ? AND c.turn_no = ? ORDER BY c.response_no, c.call_no
            """,
            session_id,
            turn_no,
        ):
            batches.setdefault(row["response_no"], []).append(row)
        return list(batches.values())

    def _rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        found = self._store.execute(query, values)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def _check(self, truth: RunTruth, what: str, told: str, found: object, allowed: set[Any]) -> None:
        self.compared[what] += 1
        if found not in allowed:
            self._disagree(truth, f"{told} {found}, really {' or '.join(map(str, allowed))}")

    def _disagree(self, truth: RunTruth, told: str) -> None:
        self.disagreements.append(f"{truth.name}: {told}")


def _ids(call: CallTruth) -> set[str | None]:
    """A text that says there is no id, and an id that the client made and the model echoed, may count as none."""
    says_none = call.sent_id is None or call.sent_id in ("", "null") or re.match(r"call_\d{13}_", call.sent_id)
    return {call.sent_id or None, None} if says_none else {call.sent_id}


def _is_stopped(responses: list[list[CallTruth]]) -> bool:
    return any(call.done == "stop" for calls in responses for call in calls)


def unexpected(scenario: Scenario, truth: RunTruth) -> Iterator[str]:
    """In what the run itself was not as the scenario expects of the guard."""
    for expected in scenario.expect:
        if expected.guard == truth.guard and truth.entry_point in expected.entry_points:
            ends = tuple(turn.end for turn in truth.turns)
            if expected.ends and ends != expected.ends:
                yield f"{truth.name}: the turns ended {', '.join(ends)}, expected {', '.join(expected.ends)}"
            for mark, times in expected.runs.items():
                if truth.runs.get(mark, 0) != times:
                    yield f"{truth.name}: {mark} was executed {truth.runs.get(mark, 0)} times, expected {times}"
