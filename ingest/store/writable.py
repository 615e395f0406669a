"""The store as its one writer has it: a private working file, and the published copy that everybody else reads.

DuckDB lets no process read a file that another has open for writing. So `<db>.work` is the writer's, and `db` is a finished
copy of it, renamed into place after a change: readers see whole states only and block nobody. A missing working file starts
from the published one. All files are 0600 from the moment they exist; logs are private.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal

import duckdb
from filelock import FileLock

from ingest.errors import ForeignFile, StoreBusy, StoreDamaged, StoreUnwritable, WorkingFileDamaged
from ingest.store.explain import explain, first_line, working_file
from ingest.store.file_copy import copy_into_place, set_aside
from ingest.store.info import write_info
from ingest.store.migrate import migrate, refuse_foreign
from ingest.store.writer_lock import acquire_writer_lock

_MEMORY = "1GB"
_KEPT_BETWEEN_CHANGES = "64MB"
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "preserve_insertion_order": "false",
    # Above what the changes we know of need, since running out of it within a checkpoint is the end of the working file.
    "memory_limit": _MEMORY,
    # Each checkpoint packs the last rows of every table anew; at the default of 16 MB a long run leaves a file half of holes.
    "checkpoint_threshold": "256MB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_LEAST_SECONDS_BETWEEN = 2.0
_SHARE_FOR_COPYING = 0.05
_SLOWEST_DISK = 200 << 20
"""Bytes a second. A copy that takes longer waits for a busy machine, which is no reason to let readers wait too."""
_SMALLEST = 3 * 4096
"""Bytes of an empty database. A working file with fewer was being made when its program was killed, and never held anything."""
_OUR_TABLE = b"unpublished_change"
_MAGIC = slice(8, 12), b"DUCK"


def _to_nobody(sentence: str) -> None:
    pass


class WritableStore:
    """Context manager. Raises StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable, from within the block too.

    say: told what had to be set aside. opening: `repair` sets a published file aside that cannot be read, where `as-is` raises;
    `empty` sets aside what there is."""

    con: duckdb.DuckDBPyConnection

    def __init__(
        self,
        db: Path,
        *,
        wait: float = 5.0,
        say: Callable[[str], None] = _to_nobody,
        opening: Literal["as-is", "repair", "empty"] = "as-is",
    ) -> None:
        self.db = db.absolute()
        self.work = working_file(self.db)
        self._wait = wait
        self._say = say
        self._opening = opening
        self._lock: FileLock | None = None
        self._umask = 0
        self._next_publishing = time.monotonic() + _LEAST_SECONDS_BETWEEN

    def __enter__(self) -> WritableStore:
        self._umask = os.umask(0o077)
        try:
            with self._translated():
                self._refuse_foreign_file()
                self.db.parent.mkdir(parents=True, exist_ok=True)
                self._lock = acquire_writer_lock(self.db, self._wait)
                self._open_what_is_there()
        except BaseException:
            self._let_go()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        explained = explain(error, self.db) if isinstance(error, duckdb.Error) else None
        try:
            with suppress(duckdb.Error) if explained else self._translated():
                self.con.close()
            if isinstance(explained, WorkingFileDamaged):
                self._set_aside(explained, self.work, self._log_of(self.work))
        finally:
            self._let_go()
        if explained:
            raise explained from error

    @contextmanager
    def change(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """One transaction; what it changed is published by the next `publish`, be that in another run."""
        self.con.execute("BEGIN")
        try:
            yield self.con
            self.con.execute(
                "INSERT INTO unpublished_change SELECT now() AT TIME ZONE 'UTC' "
                "WHERE NOT EXISTS (SELECT 1 FROM unpublished_change)"
            )
            self.con.execute("COMMIT")
        except BaseException:
            # The transaction may be gone already with a failed commit; the first error is the one to tell.
            with suppress(duckdb.Error):
                self.con.execute("ROLLBACK")
            raise

    def give_back_memory(self) -> None:
        """What the database keeps of earlier changes goes to disk or is forgotten: it would keep all it may."""
        with suppress(duckdb.OutOfMemoryException):  # it cannot give back so much
            self.con.execute(f"SET memory_limit = '{_KEPT_BETWEEN_CHANGES}'")
        self.con.execute(f"SET memory_limit = '{_MEMORY}'")

    @contextmanager
    def closed(self) -> Iterator[None]:
        """The database is closed meanwhile, and nobody else's: the lock stays."""
        self.con.close()
        try:
            yield
        finally:
            self._open()

    def publish_if_due(self) -> bool:
        """`publish`, but not so often that a long run spends its time on copying."""
        return self.seconds_until_publishing() <= 0 and self.publish()

    def seconds_until_publishing(self) -> float:
        """0 where it is due."""
        return max(0.0, self._next_publishing - time.monotonic())

    def publish(self) -> bool:
        """Puts a copy of the present state in the place of `db`, if it differs. Whether it did."""
        behind = self.con.execute("SELECT count(*) FROM unpublished_change").fetchone()
        if behind == (0,) and self.db.exists():
            return False
        started = time.monotonic()
        write_info(self.con, "published_at", _now(self.con))
        with self._translated():
            self.con.execute("CHECKPOINT")
            copying = time.monotonic()
            # Another program's log of changes beside the old file belongs to that, and DuckDB would take it for the new one's.
            self._log_of(self.db).unlink(missing_ok=True)
            # Closing a file drops the locks DuckDB holds on it; the writer's lock is what keeps the next writer out.
            copy_into_place(self.work, self.db)
        self.con.execute("DELETE FROM unpublished_change")
        ended = time.monotonic()
        cost = min(ended - copying, self.work.stat().st_size / _SLOWEST_DISK)
        self._next_publishing = max(started + _LEAST_SECONDS_BETWEEN, ended + cost / _SHARE_FOR_COPYING)
        return True

    def _refuse_foreign_file(self) -> None:
        """`publish` replaces `db`: it has to be ours before, whatever the working file says."""
        if self.db.exists():
            with self.db.open("rb") as file:
                head = file.read(12)
            where, magic = _MAGIC
            if head[where] != magic:
                raise StoreDamaged(f"{self.db} is no DuckDB file. Move it away, or name another path with --db.")

    def _refuse_foreign_database(self, con: duckdb.DuckDBPyConnection) -> None:
        """Read with the log of changes beside it, which may hold all there is of another program's tables."""
        if not self.db.exists():
            return
        path = str(self.db).replace("'", "''")  # ATTACH takes no bound value
        try:
            con.execute(f"ATTACH '{path}' AS published (READ_ONLY)")
        except duckdb.Error as e:
            if "lock on file" in str(e):
                if _names_our_tables(self.db):
                    return  # one that we published, which somebody opened: the next one takes its place
                raise StoreBusy(
                    f"{self.db} is open for writing in another program ({first_line(e)}). Close it there, then try again."
                ) from e
            return  # it is damaged, and replaced by what is published next
        tables = con.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'published'").fetchall()
        con.execute("DETACH published")
        refuse_foreign({str(name) for (name,) in tables}, str(self.db))

    def _open_what_is_there(self) -> None:
        if self._opening == "empty":
            damaged = StoreDamaged(f"{self.db} cannot be read whole.")
            self._set_aside(damaged, self.db)
            self._set_aside(damaged, self.work, self._log_of(self.work))
        if self.work.exists() and self.work.stat().st_size < _SMALLEST:
            self.work.unlink()
        if self.work.exists():
            try:
                self._open()
                try:
                    self._refuse_foreign_database(self.con)
                except (StoreBusy, StoreDamaged):
                    self.con.close()
                    raise
                return
            except duckdb.Error as e:
                explained = explain(e, self.db) or WorkingFileDamaged(f"{self.work} cannot be opened ({first_line(e)}).")
                if not isinstance(explained, WorkingFileDamaged):
                    raise
                self._set_aside(explained, self.work, self._log_of(self.work))
        # The log of a working file that is gone belongs to no state we have.
        self._log_of(self.work).unlink(missing_ok=True)
        if self._log_of(self.db).exists():
            with duckdb.connect(":memory:") as con:
                self._refuse_foreign_database(con)
        if self.db.exists():
            try:
                self._open_copy()
                return
            except StoreDamaged as e:
                if self._opening == "as-is" or isinstance(e, ForeignFile):
                    raise
                self._set_aside(e, self.db)
        self._open()

    def _open_copy(self) -> None:
        """What is wrong with a fresh copy of `db` is wrong with that."""
        copy_into_place(self.db, self.work)
        try:
            self._open()
        except BaseException as e:
            self.work.unlink(missing_ok=True)
            self._log_of(self.work).unlink(missing_ok=True)
            if isinstance(e, duckdb.Error) and (explained := explain(e, self.db, of_copy=True)):
                raise explained from e
            raise

    def _open(self) -> None:
        self.con = duckdb.connect(self.work, config=_CONFIG)
        try:
            self.con.execute("SET enable_progress_bar = false")  # it would draw one on stdout after two seconds
            migrate(self.con, str(self.db))
        except BaseException:
            self.con.close()
            raise

    def _set_aside(self, why: StoreDamaged, *files: Path) -> None:
        aside = set_aside(*files)
        if aside is None:
            return
        instead = f"{self.db} as it was published last" if files[0] == self.work and self.db.exists() else "the logs alone"
        self._say(f"{why} It was renamed to {aside}; the store is made anew from {instead}.")

    def _log_of(self, file: Path) -> Path:
        return file.with_name(file.name + ".wal")

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        os.umask(self._umask)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as e:
            if explained := explain(e, self.db):
                raise explained from e
            raise
        except OSError as e:
            raise StoreUnwritable(
                f"{self.db} cannot be written: {e}. What was published before is untouched; "
                "make room or choose another path with --db."
            ) from e


def _names_our_tables(file: Path) -> bool:
    """Of a database that cannot be opened: the names of its tables stand in it as they are."""
    with file.open("rb") as data:
        before = b""
        while chunk := data.read(1 << 20):
            if _OUR_TABLE in before + chunk:
                return True
            before = chunk[-len(_OUR_TABLE) :]
    return False


def _now(con: duckdb.DuckDBPyConnection) -> str:
    row = con.execute("SELECT strftime(now() AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')").fetchone()
    assert row is not None
    return str(row[0])
