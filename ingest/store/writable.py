"""The store as its one writer has it: a private working file, and the published copy that everybody else reads.

DuckDB lets no process read a file that another has open for writing. So `<db>.work` is the writer's, and `db` is a finished
copy of it, renamed into place after a change: readers see whole states only and block nobody. A missing working file starts
from the published one. All files are 0600 from the moment they exist; logs are private.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

import duckdb
from filelock import FileLock

from ingest.errors import StoreDamaged, StoreUnwritable
from ingest.store.explain import explain, working_file
from ingest.store.file_copy import copy_into_place
from ingest.store.info import write_info
from ingest.store.migrate import migrate
from ingest.store.writer_lock import acquire_writer_lock

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "preserve_insertion_order": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_LEAST_SECONDS_BETWEEN = 2.0
_SHARE_FOR_COPYING = 0.03
_MAGIC = slice(8, 12), b"DUCK"


class WritableStore:
    """Context manager. Raises StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable, from within the block too."""

    con: duckdb.DuckDBPyConnection

    def __init__(self, db: Path, *, wait: float = 5.0) -> None:
        self.db = db.absolute()
        self.work = working_file(self.db)
        self._wait = wait
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
                self._open(self._ensure_working_file())
        except BaseException:
            self._let_go()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with self._translated():
                self.con.close()
        finally:
            self._let_go()
        if isinstance(error, duckdb.Error) and (explained := explain(error, self.db)):
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

    def publish_if_due(self) -> bool:
        """`publish`, but not so often that a long run spends its time on copying."""
        return time.monotonic() >= self._next_publishing and self.publish()

    def publish(self) -> bool:
        """Puts a copy of the present state in the place of `db`, if it differs. Whether it did."""
        behind = self.con.execute("SELECT count(*) FROM unpublished_change").fetchone()
        if behind == (0,) and self.db.exists():
            return False
        started = time.monotonic()
        write_info(self.con, "published_at", _now(self.con))
        with self._translated():
            self.con.execute("CHECKPOINT")
            # Closing a file drops the locks DuckDB holds on it; the writer's lock is what keeps the next writer out.
            copy_into_place(self.work, self.db)
        self.con.execute("DELETE FROM unpublished_change")
        ended = time.monotonic()
        self._next_publishing = ended + max(_LEAST_SECONDS_BETWEEN, (ended - started) / _SHARE_FOR_COPYING)
        return True

    def _refuse_foreign_file(self) -> None:
        """`publish` replaces `db`: it has to be ours before, whatever the working file says."""
        if self.db.exists():
            with self.db.open("rb") as file:
                head = file.read(12)
            where, magic = _MAGIC
            if head[where] != magic:
                raise StoreDamaged(f"{self.db} is no DuckDB file. Move it away, or name another path with --db.")

    def _ensure_working_file(self) -> bool:
        """Whether the working file was made, from the published one."""
        if self.work.exists():
            return False
        # The log of a working file that is gone belongs to no state we have.
        self._log_of_work().unlink(missing_ok=True)
        if not self.db.exists():
            return False
        copy_into_place(self.db, self.work)
        return True

    def _open(self, copied: bool) -> None:
        """copied: the working file is a fresh copy of `db`, so that what is wrong with it is wrong with that."""
        try:
            self.con = duckdb.connect(self.work, config=_CONFIG)
            try:
                migrate(self.con, str(self.db))
            except BaseException:
                self.con.close()
                raise
        except BaseException as e:
            if copied:
                self.work.unlink(missing_ok=True)
                self._log_of_work().unlink(missing_ok=True)
            if copied and isinstance(e, duckdb.Error) and (explained := explain(e, self.db, of_copy=True)):
                raise explained from e
            raise

    def _log_of_work(self) -> Path:
        return self.work.with_name(self.work.name + ".wal")

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


def _now(con: duckdb.DuckDBPyConnection) -> str:
    row = con.execute("SELECT strftime(now() AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')").fetchone()
    assert row is not None
    return str(row[0])
