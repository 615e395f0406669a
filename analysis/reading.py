"""Opening the published store for reading: read-only, sandboxed, filtered once.

Every reader (a command, a page, a query typed by a person) comes through `open_store`, so none of them can disagree
about what a filter means and none can touch a file. Three decisions:

- The connection's own database is in memory and the store is attached to it, read-only, under a fixed name. DuckDB
  shares one instance between connections to the same path within a process, settings included; two pages with
  different limits would clash.
- Filters choose turns. A temporary view shadows each `found_*` table, and because temporary names win inside the
  bodies of the stored views too, `sessions`, `decisions` and all views still to come are computed from the chosen
  turns alone: counts of a session are those of its chosen turns, and sums over `sessions` and over `calls` agree.
  Without a filter nothing is shadowed, and `sources` and `problems` (orphaned results with them) speak of files and
  not of turns: they are never filtered.
- After that external access is off, the local file system is disabled (that closes even the store's own file to
  `read_blob`), and the configuration is locked: text of a log or of a query can open nothing.

A turn belongs to a period if any part of it lies there, so that a turn that began before `since` and hangs now is not
missed. What has no time of its own is in no period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
from msgspec import Struct

from ingest.errors import ForeignFile, LoopscopeError, NoStore, StoreBusy, StoreDamaged, StoreTooNew

SCHEMA = 6
"""The newest schema of the facts that the queries here were written for."""


@dataclass(frozen=True)
class Filters:
    """Which turns to look at. None leaves that side open; times are aware or taken as UTC.

    model: the turn's, or that of any response in it; upper and lower case are one.
    project: a working directory (or one above it), or its last part.
    version: of the client; `0.24` takes in `0.24.4`.
    session: an id and its sub-agents, or where no such id exists all that begin with it.
    sessions: any of these ids with their sub-agents, or of the sessions of these log files.
    """

    since: datetime | None = None
    until: datetime | None = None
    model: str | None = None
    project: str | None = None
    client: str | None = None
    version: str | None = None
    session: str | None = None
    sessions: tuple[str, ...] | None = None

    def given(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value is not None}


NO_FILTERS = Filters()

_CHOSEN_TURNS = """
CREATE TEMP TABLE chosen_turns AS
SELECT t.session_id, t.turn_no
FROM loopscope.main.found_turns t JOIN loopscope.main.found_session s USING (session_id)
WHERE ($since::TIMESTAMP IS NULL OR coalesce(t.ended_at, t.started_at) >= $since)
  AND ($until::TIMESTAMP IS NULL OR coalesce(t.started_at, t.ended_at) < $until)
  AND ($model::VARCHAR IS NULL OR lower(t.model) = lower($model) OR EXISTS (
        SELECT 1 FROM loopscope.main.found_responses r
        WHERE r.session_id = t.session_id AND r.turn_no = t.turn_no AND lower(r.model) = lower($model)))
  AND ($client::VARCHAR IS NULL OR lower(s.client) = lower($client))
  AND ($version::VARCHAR IS NULL OR t.client_version = $version OR starts_with(t.client_version, $version || '.'))
  AND ($project::VARCHAR IS NULL OR s.cwd = $project OR starts_with(s.cwd, $project || '/')
       OR starts_with(s.cwd, $project || '\\') OR regexp_extract(s.cwd, '[^/\\\\]+$') = $project)
  AND ($session::VARCHAR IS NULL OR s.session_id = $session OR starts_with(s.session_id, $session || '/')
       OR (starts_with(s.session_id, $session)
           AND NOT EXISTS (SELECT 1 FROM loopscope.main.found_session x WHERE x.session_id = $session)))
  AND ($sessions::VARCHAR[] IS NULL OR list_contains($sessions, s.session_id) OR list_contains($sessions, s.parent_session_id)
       OR EXISTS (SELECT 1 FROM loopscope.main.found_calls c
                  WHERE c.session_id = s.session_id AND list_contains($sessions, c.source_path)))
"""

# A session of which only its interface is known has no turn: it can be chosen by its id and its time, and by nothing else.
_CHOSEN_SESSIONS = """
CREATE TEMP TABLE chosen_sessions AS
SELECT session_id FROM chosen_turns
UNION
SELECT session_id FROM loopscope.main.found_cards c
WHERE NOT EXISTS (SELECT 1 FROM loopscope.main.found_turns t WHERE t.session_id = c.session_id)
  AND ($since::TIMESTAMP IS NULL OR coalesce(c.finished_at, c.started_at) >= $since)
  AND ($until::TIMESTAMP IS NULL OR c.started_at < $until)
  AND coalesce($model::VARCHAR, $client::VARCHAR, $version::VARCHAR, $project::VARCHAR) IS NULL
  AND ($session::VARCHAR IS NULL OR starts_with(c.session_id, $session))
  AND ($sessions::VARCHAR[] IS NULL OR list_contains($sessions, c.session_id) OR list_contains($sessions, c.source_path))
"""


def open_store(
    db: Path,
    filters: Filters = NO_FILTERS,
    as_of: datetime | None = None,
    *,
    running_for: timedelta | None = None,
    memory_limit: str = "1GB",
) -> duckdb.DuckDBPyConnection:
    """Raises NoStore, StoreBusy, StoreDamaged, StoreTooNew. The caller closes the connection, which sees one whole state.

    as_of: the clock by which a turn is `running`; now, where None.
    """
    _look_for(db)
    con = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": memory_limit,
            "temp_directory": "",  # a query that needs more than its memory fails instead of filling a disk
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        },
    )
    try:
        con.execute("SET enable_progress_bar = false")  # it would draw one on stdout, into the answer, after two seconds
        con.execute("SET TimeZone = 'UTC'")  # else a comparison of a stored time with now() depends on the machine
        _attach(con, db)
        if as_of is not None:
            con.execute("SET VARIABLE as_of = ?", [_utc(as_of)])
        if running_for is not None:
            con.execute("SET VARIABLE running_for = ?", [running_for])
        if filters.given():
            _shadow_findings(con, filters)
        con.execute("SET enable_external_access = false")
        con.execute("SET disabled_filesystems = 'LocalFileSystem'")
        con.execute("SET lock_configuration = true")
    except BaseException:
        con.close()
        raise
    return con


def _look_for(db: Path) -> None:
    try:
        if db.exists():
            return
        why = ""
    except (OSError, ValueError) as e:  # a name that is too long, a folder that is closed to us
        why = f" ({e.strerror if isinstance(e, OSError) else e})"
    raise NoStore(f"There is no store at {db}{why}. Run `loopscope ingest PATH` first, or name another with --db.")


def is_known(con: duckdb.DuckDBPyConnection, session: str) -> bool:
    """Whether the store, whatever the filters choose of it, has a session of this id or beginning with it."""
    found = con.execute(
        "SELECT session_id FROM loopscope.main.found_session WHERE starts_with(session_id, $session) "
        "UNION ALL SELECT session_id FROM loopscope.main.found_cards WHERE starts_with(session_id, $session) LIMIT 1",
        {"session": session},
    )
    return found.fetchone() is not None


_TRIES = 10
_IS_OURS = "SELECT count(*) = 1 FROM duckdb_tables() WHERE database_name = 'loopscope' AND table_name = 'schema_migration'"


def _attach(con: duckdb.DuckDBPyConnection, db: Path) -> None:
    """DuckDB opens a file in two steps, and between them a writer may put its next copy in the file's place: half of each would
    be read. Then it is opened anew; writers publish seconds apart."""
    for is_last in (*[False] * _TRIES, True):
        before = _identity(db)
        try:
            _attach_as_it_is(con, db)
        except StoreDamaged:
            if is_last or _identity(db) == before:
                raise
        if is_last or _identity(db) == before:
            return
        con.execute("USE memory")
        con.execute("DETACH DATABASE IF EXISTS loopscope")


def _identity(db: Path) -> tuple[int, int, int] | None:
    try:
        status = db.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _attach_as_it_is(con: duckdb.DuckDBPyConnection, db: Path) -> None:
    # ATTACH takes no bound value. An absolute path cannot begin with the `x:` by which DuckDB names other sources.
    path = str(db.absolute()).replace("'", "''")
    try:
        con.execute(f"ATTACH '{path}' AS loopscope (READ_ONLY)")
        con.execute("USE loopscope")
        (is_ours,) = con.execute(_IS_OURS).fetchall()[0]
        if not is_ours:
            raise ForeignFile(f"{db} is a DuckDB database, but none of loopscope's. Name another path with --db.")
        newer = con.execute("SELECT value FROM store WHERE key = 'schema' AND value::INTEGER > ?", [SCHEMA]).fetchall()
    except duckdb.OutOfMemoryException as e:
        raise LoopscopeError(f"{db} cannot be opened in so little memory. Raise sql_memory_limit.") from e
    except duckdb.Error as e:
        if "version number" in str(e):
            raise StoreTooNew(
                f"{db} was written by a later DuckDB than the one here ({duckdb.__version__}). Upgrade loopscope."
            ) from e
        first_line = str(e).splitlines()[0]
        if "lock on file" in first_line:
            raise StoreBusy(
                f"{db} is open for writing in another program ({first_line}). Close it there, then try again."
            ) from e
        raise StoreDamaged(
            f"{db} cannot be read as a store ({first_line}). If it was one, `loopscope rebuild PATH...` makes it anew from the "
            "logs; else name another with --db."
        ) from e
    if newer:
        raise StoreTooNew(
            f"{db} has schema {newer[0][0]}, and this program knows none after {SCHEMA}. "
            "Upgrade loopscope, or name another store with --db."
        )


def _shadow_findings(con: duckdb.DuckDBPyConnection, filters: Filters) -> None:
    values = asdict(filters)
    for name in ("since", "until"):
        if values[name] is not None:
            values[name] = _utc(values[name])
    if values["project"] is not None:
        values["project"] = values["project"].rstrip("/\\") or values["project"]
    con.execute(_CHOSEN_TURNS, values)
    con.execute(_CHOSEN_SESSIONS, values)
    tables = con.execute(
        "SELECT table_name, bool_or(column_name = 'turn_no') FROM duckdb_columns() "
        "WHERE database_name = 'loopscope' AND starts_with(table_name, 'found_') "
        "AND table_name NOT IN ('found_orphans', 'found_odd_copies') "
        "GROUP BY table_name HAVING bool_or(column_name = 'session_id')"
    ).fetchall()
    for table, has_turns in tables:
        con.execute(f'CREATE TEMP VIEW "{table}" AS SELECT * FROM loopscope.main."{table}" WHERE {_of_chosen(has_turns)}')


def _of_chosen(has_turns: bool) -> str:
    """A row without a turn (a dead branch's call, a finding of the whole session) goes with its session."""
    of_session = "session_id IN (SELECT session_id FROM chosen_sessions)"
    if not has_turns:
        return of_session
    return f"(session_id, turn_no) IN (SELECT (session_id, turn_no) FROM chosen_turns) OR (turn_no IS NULL AND {of_session})"


def add_rows(con: duckdb.DuckDBPyConnection, filters: Filters, table: str, rows: Sequence[Struct], kind: type[Struct]) -> None:
    """Rows that this connection alone sees among those of a `found_*` table: of guards that are tried and not kept.

    Once a table. The rows pass the filters like all others.
    """
    names = kind.__struct_fields__
    con.execute(f'CREATE TEMP TABLE "added_{table}" AS SELECT * FROM loopscope.main."{table}" LIMIT 0')
    if rows:
        columns = [[getattr(row, name) for row in rows] for name in names]
        values = ", ".join("unnest(?)" for _ in names)
        con.execute(f'INSERT INTO temp.main."added_{table}" ({", ".join(names)}) SELECT {values}', columns)
    chosen = f"WHERE {_of_chosen('turn_no' in names)}" if filters.given() and "session_id" in names else ""
    con.execute(
        f'CREATE OR REPLACE TEMP VIEW "{table}" AS SELECT * FROM loopscope.main."{table}" {chosen} '
        f'UNION ALL SELECT * FROM temp.main."added_{table}" {chosen}'
    )


def _utc(moment: datetime) -> datetime:
    """The store's timestamps are UTC without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment
