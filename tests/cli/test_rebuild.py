"""`rebuild`: the store anew from what is left, and what becomes of a store that cannot be read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import RECORDINGS, Loopscope
from tests.cli.following import rows_of
from tests.ingest.store_content import content, first_difference

NAMES = ("b_true_replay", "e_normal", "l_subagent_replay.acp")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in NAMES:
        shutil.copytree(RECORDINGS / "0.24.4" / name, tmp_path / "logs" / name)
    return tmp_path / "logs"


@pytest.fixture
def db(tmp_path: Path, logs: Path, loopscope: Loopscope) -> Path:
    db = tmp_path / "store.duckdb"
    assert loopscope("ingest", logs, "--db", db).code == 0
    return db


def spoil(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xee" * (len(content) - 4096)
    path.write_bytes(content)


def test_it_reads_and_analyses_everything_again_and_finds_the_same(db: Path, logs: Path, loopscope: Loopscope) -> None:
    before = content(db)
    files = len(before["fact_source"])
    answer = loopscope("rebuild", "--db", db)
    assert answer.code == 0
    assert answer.out == ""
    assert f"Files: {files} read" in answer.err
    assert first_difference(content(db), before) == ""


def test_facts_and_findings_that_went_wrong_are_made_anew(db: Path, loopscope: Loopscope) -> None:
    before = content(db)
    for file in (db, db.with_name(db.name + ".work")):
        with duckdb.connect(file) as con:
            con.execute("DELETE FROM fact_log WHERE source_id % 2 = 0")
            con.execute("UPDATE found_turns SET verdict = 'completed'")
            con.execute("INSERT INTO found_orphans SELECT 'nobody', 1, NULL, '/nowhere', 0, 0")
    assert loopscope("ingest", "--db", db, db.parent / "logs").code == 0
    assert first_difference(content(db), before) != "", "an ordinary run sees no reason to"
    assert loopscope("rebuild", "--db", db).code == 0
    assert first_difference(content(db), before) == ""


def test_what_vanished_logs_said_is_kept(db: Path, logs: Path, loopscope: Loopscope) -> None:
    before = content(db)
    shutil.rmtree(logs / "e_normal")
    assert loopscope("rebuild", "--db", db).code == 0
    after = content(db)
    gone = rows_of(db, "SELECT source_path FROM sources WHERE status = 'gone'")
    assert gone
    assert all("e_normal" in str(path) for (path,) in gone)
    assert {table: rows for table, rows in after.items() if table != "fact_source"} == {
        table: rows for table, rows in before.items() if table != "fact_source"
    }


def test_a_damaged_store_is_set_aside_and_made_from_the_logs(
    db: Path, logs: Path, tmp_path: Path, loopscope: Loopscope
) -> None:
    before = content(db)
    spoil(db)
    db.with_name(db.name + ".work").unlink()
    refused = loopscope("triage", "--db", db)
    assert refused.code == 5
    assert loopscope("ingest", logs, "--db", db).code == 5
    answer = loopscope("rebuild", logs, "--db", db)
    assert answer.code == 0
    assert f"renamed to {db}.damaged-1" in answer.err
    assert first_difference(content(db), before) == ""
    assert Path(f"{db}.damaged-1").exists()


def test_a_damaged_working_file_costs_a_sentence(db: Path, logs: Path, loopscope: Loopscope) -> None:
    before = content(db)
    spoil(db.with_name(db.name + ".work"))
    answer = loopscope("ingest", logs, "--db", db)
    assert answer.code == 0
    assert "store.duckdb.work.damaged-1" in answer.err
    assert f"made anew from {db} as it was published last" in answer.err
    assert first_difference(content(db), before) == ""


def spoil_pages_of(table: str, file: Path) -> None:
    """Opening shows nothing of it: DuckDB holds a page against its checksum when it reads it."""
    with duckdb.connect(file, read_only=True) as con:
        blocks = con.execute(f"SELECT DISTINCT block_id FROM pragma_storage_info('{table}') WHERE block_id > 0").fetchall()
    assert blocks
    with file.open("r+b") as spoiled:
        for (block,) in blocks:
            spoiled.seek(3 * 4096 + block * (256 << 10) + 100)
            spoiled.write(b"\xee" * 1000)


def test_damage_that_opening_does_not_show_is_found_and_left_behind(db: Path, logs: Path, loopscope: Loopscope) -> None:
    """Of both files a block of data: neither copy of the store is whole, and the logs are."""
    before = content(db)
    for file in (db, db.with_name(db.name + ".work")):
        spoil_pages_of("fact_log", file)
    answer = loopscope("rebuild", logs, "--db", db)
    assert answer.code == 0, answer.err
    assert "store.duckdb.damaged-1" in answer.err
    assert first_difference(content(db), before) == ""


def test_nothing_to_rebuild_from_is_no_data(tmp_path: Path, loopscope: Loopscope) -> None:
    answer = loopscope("rebuild", "--db", tmp_path / "none.duckdb")
    assert answer.code == 3
    assert "loopscope ingest PATH" in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [["sql", "SELECT max(args_json) FROM calls"], ["sql", "FROM calls", "--format=csv"], ["guard", "diff", "none", "id-only"]],
)
def test_a_damaged_page_is_no_mistake_in_the_question(command: list[str], db: Path, loopscope: Loopscope) -> None:
    spoil_pages_of("found_calls", db)
    answer = loopscope(*command, "--db", db)
    assert answer.code == 5
    assert "The store is damaged" in answer.err
    assert "loopscope rebuild" in answer.err
    assert "Traceback" not in answer.err


def test_words_of_damage_in_a_question_are_no_damage(db: Path, loopscope: Loopscope) -> None:
    for query in ("SELECT error('Corrupt database file')", "SELECT 'Could not read enough bytes'::INTEGER"):
        assert loopscope("sql", query, "--db", db).code == 2


def test_doctor_reads_the_whole_store(db: Path, loopscope: Loopscope) -> None:
    def told() -> tuple[int, str, str]:
        answer = loopscope("doctor", "--format=json", "--db", db)
        (row,) = [row for row in answer.json() if (row["subject"], row["name"]) == ("store", str(db))]
        return answer.code, row["state"], row["detail"]

    code, state, detail = told()
    assert (code, state) == (0, "ok")
    spoil_pages_of("found_calls", db)
    code, state, detail = told()
    assert (code, state) == (5, "damaged")
    assert "found_calls (" in detail
    assert "found_turns" not in detail
    assert "loopscope rebuild" in detail


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Another program's database, its table in the file."""
    file = tmp_path / "theirs.duckdb"
    with duckdb.connect(file) as con:
        con.execute("CREATE TABLE theirs AS SELECT 42 AS answer")
    return file


@pytest.mark.parametrize("command", ["rebuild", "ingest"])
@pytest.mark.parametrize("beside", ["nothing", "a working file"])
def test_a_database_of_another_program_is_left_alone(
    command: str, beside: str, theirs: Path, db: Path, logs: Path, loopscope: Loopscope
) -> None:
    if beside == "a working file":
        shutil.copy(f"{db}.work", f"{theirs}.work")
    before = theirs.read_bytes()
    answer = loopscope(command, logs, "--db", theirs)
    assert answer.code == 5
    assert f"{theirs} is a DuckDB database, but none of loopscope's" in answer.err
    assert theirs.read_bytes() == before
    assert not list(theirs.parent.glob("*.damaged*"))


@pytest.mark.parametrize("command", ["rebuild", "ingest"])
def test_so_is_one_whose_tables_are_in_its_log_of_changes_alone(
    command: str, tmp_path: Path, logs: Path, loopscope: Loopscope
) -> None:
    """As a program leaves it that was killed."""
    file = tmp_path / "theirs.duckdb"
    die = (
        f"import duckdb, os; con = duckdb.connect({str(file)!r}); con.execute('CREATE TABLE t AS SELECT 42 AS a'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", die])
    assert file.with_name("theirs.duckdb.wal").exists()
    assert loopscope(command, logs, "--db", file).code == 5
    with duckdb.connect(file) as con:
        assert con.execute("SELECT a FROM t").fetchall() == [(42,)]


def test_a_database_that_somebody_writes_is_not_replaced(theirs: Path, db: Path, logs: Path, loopscope: Loopscope) -> None:
    shutil.copy(f"{db}.work", f"{theirs}.work")
    hold = f"import duckdb, time; con = duckdb.connect({str(theirs)!r}); print(1, flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        answer = loopscope("ingest", logs, "--db", theirs)
    finally:
        holder.kill()
        holder.communicate()
    assert answer.code == 5
    assert "open for writing in another program" in answer.err
