"""One writer, whole states, private files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from ingest.errors import StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable, WorkingFileDamaged
from ingest.store.info import read_info, write_info
from ingest.store.writable import WritableStore


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def published_label(db: Path) -> str | None:
    with duckdb.connect(db, read_only=True) as con:
        return read_info(con, "label")


def change_label(store: WritableStore, label: str) -> None:
    with store.change() as con:
        write_info(con, "label", label)


def change_and_interrupt(store: WritableStore) -> None:
    with store.change() as con:
        write_info(con, "label", "half")
        raise KeyboardInterrupt


def test_nothing_is_at_the_path_before_it_is_published(tmp_path: Path) -> None:
    db = tmp_path / "new" / "store.duckdb"
    with WritableStore(db) as store:
        assert not db.exists()
        assert store.publish()
        assert db.exists()


def test_files_are_private_from_the_moment_they_exist(tmp_path: Path) -> None:
    before = os.umask(0)  # the most careless user
    try:
        db = tmp_path / "folder" / "store.duckdb"
        with WritableStore(db) as store:
            change_label(store, "x")
            wal = db.with_name("store.duckdb.work.wal")
            assert {mode(store.work), mode(wal), mode(db.with_name("store.duckdb.lock"))} == {0o600}
            store.publish()
            assert mode(db) == 0o600
        assert os.umask(0) == 0, "the process's own umask is back"
    finally:
        os.umask(before)


def test_readers_see_the_last_published_state_while_the_writer_writes(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store:
        change_label(store, "one")
        store.publish()
        change_label(store, "two")
        read = (
            f"import duckdb; con = duckdb.connect({str(db)!r}, read_only=True)\n"
            "print(con.execute(\"SELECT value FROM store_info WHERE key = 'label'\").fetchall())"
        )
        in_another_process = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
        assert in_another_process.stdout == "[('one',)]\n"
        store.publish()
    assert published_label(db) == "two"


def test_nothing_changed_leaves_the_published_file_alone(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store:
        store.publish()
    before = db.stat()
    with WritableStore(db) as store:
        assert not store.publish()
    assert (db.stat().st_ino, db.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_change_that_an_earlier_run_could_not_publish_is_published_later(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store:
        store.publish()
        change_label(store, "left behind")
    with WritableStore(db) as store:
        assert store.publish()
    assert published_label(db) == "left behind"


def test_a_long_run_publishes_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("ingest.store.writable.time.monotonic", lambda: clock[0])
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store:
        change_label(store, "one")
        clock[0] += 1.9
        assert not store.publish_if_due()
        clock[0] += 0.2
        assert store.publish_if_due()
        assert published_label(db) == "one"

        def slow(source: Path, target: Path) -> None:
            clock[0] += 9  # 5 percent of three minutes
            shutil.copyfile(source, target)

        monkeypatch.setattr("ingest.store.writable.copy_into_place", slow)
        monkeypatch.setattr("ingest.store.writable._SLOWEST_DISK", 1000)
        change_label(store, "two")
        clock[0] += 2.1
        assert store.publish_if_due()
        change_label(store, "three")
        clock[0] += 179
        assert not store.publish_if_due()
        clock[0] += 2
        assert store.publish_if_due()
        monkeypatch.undo()
    assert published_label(db) == "three"


def test_a_busy_machine_does_not_make_the_readers_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("ingest.store.writable.time.monotonic", lambda: clock[0])

    def slow(source: Path, target: Path) -> None:
        clock[0] += 9
        shutil.copyfile(source, target)

    with WritableStore(tmp_path / "store.duckdb") as store:
        monkeypatch.setattr("ingest.store.writable.copy_into_place", slow)
        change_label(store, "one")
        store.publish()
        change_label(store, "two")
        clock[0] += 1
        assert store.work.stat().st_size < 5 << 20, "which takes no disk of today a second"
        assert store.publish_if_due()


def test_a_failed_change_leaves_nothing(tmp_path: Path) -> None:
    with WritableStore(tmp_path / "store.duckdb") as store:
        change_label(store, "before")
        with pytest.raises(KeyboardInterrupt):
            change_and_interrupt(store)
        assert read_info(store.con, "label") == "before"


def test_a_lost_working_file_starts_from_the_published_one(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store:
        change_label(store, "kept")
        store.publish()
    store.work.unlink()
    with WritableStore(db) as store:
        assert read_info(store.con, "label") == "kept"


def test_a_deleted_published_file_comes_back(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store:
        change_label(store, "kept")
        store.publish()
    db.unlink()
    with WritableStore(db) as store:
        assert store.publish()
    assert published_label(db) == "kept"


def test_a_second_writer_learns_who_holds_the_store(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    hold = (
        "from pathlib import Path; from ingest.store.writable import WritableStore\n"
        f"with WritableStore(Path({str(db)!r})): print('held', flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreBusy, match=f"process {holder.pid}\\b"), WritableStore(db, wait=0.2):
            pass
        holder.communicate("\n")
    with WritableStore(db, wait=0.2):
        pass


def test_a_killed_writer_holds_nothing(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    die = (
        "import os, signal; from pathlib import Path; from ingest.store.info import write_info\n"
        "from ingest.store.writable import WritableStore\n"
        f"with WritableStore(Path({str(db)!r})) as store:\n"
        "    with store.change() as con: write_info(con, 'label', 'committed')\n"
        "    store.con.execute('BEGIN'); write_info(store.con, 'label', 'not committed')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", die]).returncode == -9
    with WritableStore(db, wait=0.2) as store:
        assert read_info(store.con, "label") == "committed"


@pytest.mark.parametrize("content", [b"", b"not a database\n", b"x" * 20_000])
def test_a_foreign_file_at_the_path_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    db = tmp_path / "notes.txt"
    db.write_bytes(content)
    with pytest.raises(StoreDamaged, match="Move it away"), WritableStore(db):
        pass
    assert db.read_bytes() == content
    assert list(tmp_path.iterdir()) == [db], "nothing is left beside it either"


def test_another_programs_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    db = tmp_path / "other.duckdb"
    with duckdb.connect(db) as con:
        con.execute("CREATE TABLE theirs AS SELECT 1 AS x")
    before = db.read_bytes()
    with pytest.raises(StoreDamaged, match="none of loopscope's"), WritableStore(db):
        pass
    assert db.read_bytes() == before
    assert not db.with_name("other.duckdb.work").exists()


def spoil(path: Path, first_byte: int) -> bytes:
    """What stands there now."""
    content = bytearray(path.read_bytes())
    content[first_byte:] = b"\xee" * (len(content) - first_byte)
    path.write_bytes(content)
    return bytes(content)


def published_and_closed(db: Path) -> WritableStore:
    with WritableStore(db) as store:
        change_label(store, "published")
        store.publish()
    return store


@pytest.mark.parametrize("first_byte", [0, 4096, 100_000], ids=["no database at all", "no catalog", "blocks"])
def test_a_damaged_working_file_is_set_aside_for_the_published_one(tmp_path: Path, first_byte: int) -> None:
    db = tmp_path / "store.duckdb"
    damaged = spoil(published_and_closed(db).work, first_byte)
    said: list[str] = []
    for attempt in 1, 2:
        try:
            with WritableStore(db, say=said.append) as store:
                store.con.execute("SELECT * FROM duckdb_tables()").fetchall()
                store.con.execute("SELECT * FROM schema_migration").fetchall()
                assert read_info(store.con, "label") == "published"
            break
        except WorkingFileDamaged:
            assert attempt == 1, "found while it was in use; the next one starts from the published file"
    aside = tmp_path / "store.duckdb.work.damaged-1"
    assert aside.read_bytes() == damaged
    (sentence,) = said
    assert str(aside) in sentence
    assert f"{db} as it was published last" in sentence


def test_damage_without_a_published_file_leaves_an_empty_store(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    spoil(published_and_closed(db).work, 0)
    db.unlink()
    said: list[str] = []
    with WritableStore(db, say=said.append) as store:
        assert read_info(store.con, "label") is None
    assert "from the logs alone" in said[0]


def test_what_was_set_aside_before_is_not_overwritten(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    for _ in range(2):
        spoil(published_and_closed(db).work, 0)
    with WritableStore(db):
        pass
    assert sorted(path.name for path in tmp_path.glob("*damaged*")) == [
        "store.duckdb.work.damaged-1",
        "store.duckdb.work.damaged-2",
    ]


def test_a_damaged_log_of_changes_goes_with_its_file(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    published_and_closed(db)
    die = (
        "import os, signal; from pathlib import Path; from ingest.store.info import write_info\n"
        "from ingest.store.writable import WritableStore\n"
        f"with WritableStore(Path({str(db)!r})) as store:\n"
        "    with store.change() as con: write_info(con, 'label', 'not published')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", die]).returncode == -9
    wal = tmp_path / "store.duckdb.work.wal"
    spoil(wal, 16)
    said: list[str] = []
    with WritableStore(db, say=said.append) as store:
        assert read_info(store.con, "label") == "published"
    assert (tmp_path / "store.duckdb.work.wal.damaged-1").exists() == bool(said)


def test_a_damaged_published_file_is_named_when_there_is_nothing_else(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    store = published_and_closed(db)
    store.work.unlink()
    content = spoil(db, 4096)
    with pytest.raises(StoreDamaged, match=r"store\.duckdb is damaged .*loopscope rebuild"), WritableStore(db):
        pass
    assert not store.work.exists()
    assert db.read_bytes() == content
    said: list[str] = []
    with WritableStore(db, say=said.append, opening="repair") as repaired:
        assert read_info(repaired.con, "label") is None
    assert (tmp_path / "store.duckdb.damaged-1").read_bytes() == content
    assert "from the logs alone" in said[0]


def test_a_store_of_a_later_schema_is_refused(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store, store.change() as con:
        con.execute("INSERT INTO schema_migration VALUES (999, '999_later.sql', 'x', now())")
    with pytest.raises(StoreTooNew, match="schema 999"), WritableStore(db):
        pass


def test_a_migration_whose_text_changed_after_it_ran_is_refused(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with WritableStore(db) as store, store.change() as con:
        con.execute("UPDATE schema_migration SET checksum = 'another' WHERE number = 1")
    with pytest.raises(StoreDamaged, match="001_facts"), WritableStore(db):
        pass


def test_a_path_below_a_file_cannot_be_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnwritable, match="--db"), WritableStore(tmp_path / "file" / "store.duckdb"):
        pass


def test_a_full_disk_while_publishing_leaves_the_old_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "store.duckdb"

    def full(source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with WritableStore(db) as store:
        change_label(store, "old")
        store.publish()
        change_label(store, "new")
        monkeypatch.setattr("ingest.store.file_copy._copy", full)
        with pytest.raises(StoreUnwritable, match="No space left"):
            store.publish()
        monkeypatch.undo()
        assert sorted(path.name for path in tmp_path.iterdir() if ".new" in path.name) == []
    assert published_label(db) == "old"
    with WritableStore(db) as store:
        assert store.publish()
    assert published_label(db) == "new"


@pytest.mark.parametrize("size", [0, 100, 8192])
def test_a_working_file_that_was_never_finished_is_no_damage(tmp_path: Path, size: int) -> None:
    """As a kill leaves it while the database is being made."""
    with WritableStore(tmp_path / "whole.duckdb"):
        pass
    whole = (tmp_path / "whole.duckdb.work").read_bytes()
    assert len(whole) >= 12288
    (tmp_path / "store.duckdb.work").write_bytes(whole[:size])
    said: list[str] = []
    with WritableStore(tmp_path / "store.duckdb", say=said.append) as store:
        assert store.publish()
    assert said == []
    assert not list(tmp_path.glob("*.damaged*"))
