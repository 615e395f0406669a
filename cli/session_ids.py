"""Session ids for the eye and from the keyboard: short ones that are unique, and prefixes that are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analysis.inert_text import inert
from analysis.typed_place import meant
from ingest.errors import LoopscopeError

if TYPE_CHECKING:
    import duckdb


class NoSuchSession(LoopscopeError):
    """No id of the store begins with what was typed."""

    @classmethod
    def beginning_with(cls, text: str) -> NoSuchSession:
        return cls(
            f"No session begins with {inert(text)!r}. `loopscope triage` and"
            " `loopscope sql 'SELECT session_id FROM sessions'` list them."
        )


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

    def short_place(self, place: str) -> str:
        """Of a turn or a call: `SESSION:TURN.RESPONSE.CALL`."""
        session_id, colon, rest = place.rpartition(":")
        return f"{self.short(session_id)}{colon}{rest}"


def resolve_place(con: duckdb.DuckDBPyConnection, text: str) -> tuple[str, int | None]:
    """The session that was meant, and the turn where one was. Raises NoSuchSession, and a usage error that lists the ids where
    several fit."""
    from analysis import queries

    def begin_with(beginning: str) -> list[str]:
        return [str(row[0]) for row in queries.run(con, "session_resolve", session=beginning).rows]

    beginning, found, turn_no = meant(text, begin_with)
    if not found:
        raise NoSuchSession.beginning_with(beginning)
    if len(found) > 1:
        ids = "\n  ".join(inert(session_id) for session_id in found)
        raise click.UsageError(f"{inert(beginning)!r} begins several sessions; give more of it:\n  {ids}")
    return found[0], turn_no
