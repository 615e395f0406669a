"""The published store, opened for one run of a page and closed again.

Nothing read from it outlives the run, so a page can be neither older than its store nor wrong about what is running now. The
one exception is the lists of the filters, kept for as long as the file is the same one (its time and size).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from analysis import queries
from analysis.reading import NO_FILTERS, Filters, open_store
from dashboard import empty_states
from ingest.errors import LoopscopeError, NoStore

if TYPE_CHECKING:
    import duckdb


class About(NamedTuple):
    """What the store says of itself."""

    published_at: datetime
    label: str | None
    options: dict[str, list[str]]
    sessions: int


def database() -> Path:
    """`loopscope serve` names it; there is no default here, so that page and command cannot mean two stores."""
    named = os.environ.get("LOOPSCOPE_DB")
    if not named:
        empty_states.no_database_named()
        st.stop()
    return Path(named)


def _running_for() -> timedelta | None:
    """As the commands have it: `serve` passes its setting on in the environment."""
    try:
        return timedelta(minutes=float(os.environ["LOOPSCOPE_RUNNING_FOR_MINUTES"]))
    except (KeyError, ValueError, OverflowError):
        return None


@contextmanager
def opened(filters: Filters = NO_FILTERS) -> Iterator[duckdb.DuckDBPyConnection]:
    """Stops the page with what to do where there is no store, or none that can be read."""
    db = database()
    try:
        con = open_store(db, filters, running_for=_running_for())
    except NoStore:
        empty_states.no_store(db)
        st.stop()
    except LoopscopeError as problem:
        empty_states.unreadable_store(problem)
        st.stop()
    with closing(con):
        yield con


def about() -> About:
    db = database()
    try:
        status = db.stat()
    except OSError:
        empty_states.no_store(db)
        st.stop()
    return _about(str(db), status.st_mtime_ns, status.st_size)


@st.cache_data(show_spinner=False, max_entries=4)
def _about(db: str, mtime_ns: int, size: int) -> About:
    with opened() as con:
        told = dict(con.execute("SELECT key, value FROM store").fetchall())
        options: dict[str, list[str]] = {}
        for name, value in queries.run(con, "filter_options").rows:
            options.setdefault(str(name), []).append(str(value))
        (sessions,) = con.execute("SELECT count(*) FROM sessions").fetchone() or (0,)
    return About(_published_at(told.get("published_at"), mtime_ns), told.get("label"), options, sessions)


def _published_at(told: str | None, mtime_ns: int) -> datetime:
    """As the writer says it; a store that does not say is as old as its file."""
    try:
        moment = datetime.fromisoformat(told) if told else None
    except ValueError:
        moment = None
    if moment is None:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
