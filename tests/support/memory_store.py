"""A store in memory with the findings of given sessions, so that a test without files reads the same public views."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from analysis.analyse import GUARDS, analyse
from ingest.analysing import finding_columns
from ingest.records import SessionFacts
from ingest.store.findings import replace_findings
from ingest.store.migrate import migrate
from ingest.store.sql_files import sql_text


def store_of(sessions: Iterable[SessionFacts]) -> duckdb.DuckDBPyConnection:
    facts = list(sessions)
    con = duckdb.connect(":memory:")
    migrate(con, "the store in memory")
    con.execute(sql_text("findings.sql"))
    guards = [[guard.name, guard.about, "built-in"] for guard in GUARDS]
    con.executemany("INSERT INTO found_guards (guard, about, source) VALUES (?, ?, ?)", guards)
    con.execute(sql_text("views.sql"))
    replace_findings(con, [session.session_id for session in facts], finding_columns(map(analyse, facts)))
    return con
