"""A query of a person's own, answered piece by piece, within limits of time and memory.

DuckDB's limits hold for its own work and end where the answer begins: some million rows as Python objects are a gigabyte, and
a value of a hundred megabytes is one in DuckDB, one in Python and one in the text. So rows are fetched a few at a time, the
seconds count whatever is done here until the text is made, and the address space is bounded where the system tells its size
(Linux): DuckDB counts its buffers alone, and not the values of the rows that it hands over.

Time that the reader of our output takes is not counted: a person who leafs through it in a pager is no runaway query.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import click
import duckdb

from analysis import queries
from cli.address_space import address_space, bounded_to
from cli.settings import bytes_of
from ingest.errors import LoopscopeError

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = tuple[object, ...]
Made = TypeVar("Made")

ROWS_AT_ONCE = 1024
_HEADROOM = 256 << 20
"""For threads, for Python and for what it imports."""


class QueryTimedOut(LoopscopeError):
    """The query, or making its answer, took longer than its limit."""


class QueryTooLarge(LoopscopeError):
    """The query, or making its answer, wanted more memory than its limit."""


class BoundedQuery:
    """Of one statement. Its errors are QueryTimedOut, QueryTooLarge and duckdb.Error for a query that is wrong."""

    def __init__(self, con: duckdb.DuckDBPyConnection, seconds: float, memory_limit: str) -> None:
        self._con = con
        self._seconds = seconds
        self._memory_limit = memory_limit
        self._left = seconds
        self._ceiling = address_space() + 2 * bytes_of(memory_limit) + _HEADROOM
        """DuckDB's buffers may take the limit, and the rows on their way as much again."""
        self.columns: list[str] = []
        self.fetched = 0

    def pieces(self, text: str) -> Iterator[list[Row]]:
        """The rows, some at a time. The query has run up to the first ones when this returns, and `columns` is known."""
        with self._limited():
            statements = self._con.extract_statements(text)
            if len(statements) != 1 or statements[0].type.name not in ("SELECT", "EXPLAIN"):
                raise click.UsageError("Give one SELECT (or DESCRIBE, SUMMARIZE, EXPLAIN); the store is not written to.")
            executed = self._con.execute(statements[0])
            self.columns = queries.columns_of(executed)
            first = executed.fetchmany(ROWS_AT_ONCE)
        return self._pieces(executed, first)

    def _pieces(self, executed: duckdb.DuckDBPyConnection, piece: list[Row]) -> Iterator[list[Row]]:
        while piece:
            self.fetched += len(piece)
            yield piece
            piece = executed.fetchmany(ROWS_AT_ONCE)

    def within_limits(self, made: Iterable[Made]) -> Iterator[Made]:
        """What an iterator over `pieces` makes of them. What is done between two of its steps is not counted."""
        steps = iter(made)
        while True:
            with self._limited():
                step = list(islice(steps, 1))
            if not step:
                return
            yield step[0]

    @contextmanager
    def _limited(self) -> Iterator[None]:
        timer = threading.Timer(self._left, self._con.interrupt)
        timer.daemon = True
        started = time.monotonic()
        timer.start()
        try:
            with bounded_to(self._ceiling):
                yield
        except duckdb.InterruptException as e:
            raise self._timed_out() from e
        except (duckdb.OutOfMemoryException, MemoryError) as e:
            raise QueryTooLarge(
                f"The query wants more memory than sql_memory_limit allows ({self._memory_limit}). "
                "Narrow it, or raise that setting."
            ) from e
        finally:
            timer.cancel()
            self._left -= time.monotonic() - started
        if self._left <= 0:  # nothing of DuckDB ran that could have been interrupted
            raise self._timed_out()

    def _timed_out(self) -> QueryTimedOut:
        return QueryTimedOut(f"The query was stopped after {self._seconds:g} seconds. Narrow it, or raise sql_timeout_seconds.")
