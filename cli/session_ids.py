"""Session ids for the eye and from the keyboard: short ones that are unique, and prefixes that are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analysis.inert_text import inert
from ingest.errors import LoopscopeError

if TYPE_CHECKING:
    import duckdb


class NoSuchSession(LoopscopeError):
    """No id of the store begins with what was typed."""


class Shortener:
    """Ids cut as short as keeps the store's main sessions apart; `loopscope show` takes what it prints."""

    def __init__(self, length: int | None) -> None:
        self._length = length

    @classmethod
    def of_store(cls, con: duckdb.DuckDBPyConnection) -> Shortener:
        from analysis import queries

        ((length,),) = queries.run(con, "short_id_length").rows
        return cls(length if isinstance(length, int) else None)

    def short(self, session_id: str) -> str:
        """A sub-agent's id keeps all that follows the slash."""
        main, slash, rest = session_id.partition("/")
        return f"{main[: self._length]}{slash}{rest}"


def resolve(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """The id that was meant. Raises NoSuchSession, and a usage error that lists the ids where several fit."""
    from analysis import queries

    found = [str(row[0]) for row in queries.run(con, "session_resolve", session=text).rows]
    if not found:
        raise NoSuchSession(
            f"No session begins with {inert(text)!r}. `loopscope triage` and"
            " `loopscope sql 'SELECT session_id FROM sessions'` list them."
        )
    if len(found) > 1:
        ids = "\n  ".join(inert(session_id) for session_id in found)
        raise click.UsageError(f"{inert(text)!r} begins several sessions; give more of it:\n  {ids}")
    return found[0]
