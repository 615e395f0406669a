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
_ENOUGH = 50
"""Completed calls of a tool from which its durations say something."""


def learn_durations(store: WritableStore) -> dict[str, int]:
    """Per tool the power of two of seconds below which 99 of 100 of its calls end; tools with too few calls are left out.

    Rounded up, so that a few more calls seldom change it. Where it changed, the sessions whose findings rest on a wait become
    dirty.
    """
    rows = store.con.execute(
        "SELECT tool, pow(2, ceil(log2(greatest(quantile_cont(duration_ms, 0.99) / 1000, 1))))::INTEGER "
        "FROM fact_tool_time GROUP BY tool HAVING count(*) >= ? "
        "ORDER BY tool",
        [_ENOUGH],
    ).fetchall()
    learnt = {str(tool): int(seconds) for tool, seconds in rows}
    text = msgspec.json.encode(learnt).decode()
    if read_info(store.con, _KEY) != text:
        with store.change() as con:
            write_info(con, _KEY, text)
            _mark_waits_dirty(con)
    return learnt


def _mark_waits_dirty(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("INSERT INTO dirty_session SELECT DISTINCT session_id FROM found_turns WHERE rests_on_a_limit")
