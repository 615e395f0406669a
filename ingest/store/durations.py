"""How long the tools take in this corpus: what a turn that waits is measured against.

Kept in the store as text, so that a change is seen: turns that were judged by other limits are judged again, or the same logs
would give other findings when they come in two runs instead of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ingest.store.info import read_info, write_info

if TYPE_CHECKING:
    import duckdb

    from ingest.store.writable import WritableStore

_KEY = "tool_seconds"
_BEHIND = "tool_seconds_behind"
"""Since when facts came in that may change them. Written with the facts: a run that ends before it has learnt leaves it."""
_ENOUGH = 50
"""Completed calls of a tool from which its durations say something."""
_LONGEST = 30
"""Power of two: 34 years, which is as good as for ever."""


def mark_durations_behind(con: duckdb.DuckDBPyConnection) -> None:
    write_info(con, _BEHIND, "yes")


def are_durations_behind(store: WritableStore) -> bool:
    return read_info(store.con, _BEHIND) == "yes"


def learn_durations(store: WritableStore) -> dict[str, int]:
    """Per tool the power of two of seconds below which 99 of 100 of its calls end; tools with too few calls are left out.

    Rounded up, so that a few more calls seldom change it. Where it changed, the sessions whose findings rest on a wait become
    dirty.
    """
    rows = store.con.execute(
        "SELECT tool, pow(2, least(ceil(log2(greatest(quantile_cont(duration_ms, 0.99) / 1000, 1))), ?))::INTEGER "
        "FROM fact_tool_time GROUP BY tool HAVING count(*) >= ? "
        "ORDER BY tool",
        [_LONGEST, _ENOUGH],
    ).fetchall()
    learnt = {str(tool): int(seconds) for tool, seconds in rows}
    text = msgspec.json.encode(learnt).decode()
    has_changed = read_info(store.con, _KEY) != text
    if has_changed or are_durations_behind(store):
        with store.change() as con:
            write_info(con, _BEHIND, "no")
            if has_changed:
                write_info(con, _KEY, text)
                _mark_waits_dirty(con)
    return learnt


def _mark_waits_dirty(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO dirty_session SELECT DISTINCT session_id FROM found_turns WHERE rests_on_a_limit")
