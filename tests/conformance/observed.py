"""What a store says of each session, read through the public views only, as a user would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import duckdb

LONG_AFTER = "2100-01-01"
"""The clock of every comparison: no recording is fresh, so none is `running`."""


@dataclass(frozen=True)
class SeenCall:
    outcome: str
    decision: str
    """Of the guard in force; with `(counterfactual)` behind it where the store says that it is no fact."""


@dataclass
class SeenTurn:
    turn_no: int
    origin: str
    verdict: str
    trips: int
    """Observed trips of the guard in force."""
    batches: list[list[SeenCall]] = field(default_factory=list)
    """The calls of each response that has any."""


@dataclass
class SeenSession:
    session_id: str
    parent_session_id: str | None
    entry_point: str
    verdict: str
    turns: list[SeenTurn] = field(default_factory=list)
    loop_events: list[tuple[str, bool]] = field(default_factory=list)
    """Loop type, and whether a trip of the guard explains it; in order of time."""


def seen_sessions(store: duckdb.DuckDBPyConnection) -> dict[str, SeenSession]:
    store.execute(f"SET VARIABLE as_of = TIMESTAMP '{LONG_AFTER}'")
    sessions = {
        row[0]: SeenSession(*row)
        for row in store.execute("SELECT session_id, parent_session_id, entry_point, verdict FROM sessions").fetchall()
    }
    turns: dict[tuple[str, int], SeenTurn] = {}
    for session_id, turn_no, origin, verdict, trips in _turns(store):
        turns[session_id, turn_no] = turn = SeenTurn(turn_no, origin, verdict, trips)
        sessions[session_id].turns.append(turn)
    last_response: tuple[str, int, int] | None = None
    for session_id, turn_no, response_no, outcome, decision in _calls(store):
        batches = turns[session_id, turn_no].batches
        if last_response != (session_id, turn_no, response_no):
            last_response = (session_id, turn_no, response_no)
            batches.append([])
        batches[-1].append(SeenCall(outcome, decision))
    for session_id, loop_type, is_trip in store.execute(
        "SELECT session_id, loop_type, explained_by = 'guard-trip' FROM loop_events ORDER BY ts"
    ).fetchall():
        if session_id in sessions:
            sessions[session_id].loop_events.append((loop_type, is_trip))
    return sessions


def _turns(store: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, int, str, str, int]]:
    yield from store.execute(
        """
        SELECT session_id, turn_no, origin, verdict,
               (SELECT count(*) FROM trips p WHERE p.session_id = t.session_id AND p.turn_no = t.turn_no
                   AND p.guard = t.guard_in_force AND p.basis = 'observed')
        FROM turns t WHERE NOT inherited ORDER BY session_id, turn_no
        """
    ).fetchall()


def _calls(store: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, int, int, str, str]]:
    yield from store.execute(
        """
        SELECT c.session_id, c.turn_no, c.response_no, c.outcome,
               coalesce(d.decision || CASE d.basis WHEN 'observed' THEN '' ELSE ' (' || d.basis || ')' END, 'nothing')
        FROM calls c
        JOIN turns t ON t.session_id = c.session_id AND t.turn_no = c.turn_no
        LEFT JOIN decisions d ON d.guard = t.guard_in_force AND d.session_id = c.session_id AND d.turn_no = c.turn_no
                             AND d.response_no = c.response_no AND d.call_no = c.call_no
        WHERE NOT t.inherited
        ORDER BY c.session_id, c.turn_no, c.response_no, c.call_no
        """
    ).fetchall()
