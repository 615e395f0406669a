"""Several programs, one store: who reads waits for nobody, keeps nobody waiting, and never sees half a change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WRITER = """
import sys, time
from pathlib import Path
from ingest.store.findings import renew_findings
from ingest.store.info import write_info
from ingest.store.writable import WritableStore
slowest = 0.0
with WritableStore(Path(sys.argv[1])) as store:
    renew_findings(store, 1, [("none", "does nothing", "built-in")])
    for number in range(1, 41):
        started = time.monotonic()
        for key in "first", "second":
            with store.change() as con:
                write_info(con, key, str(number))
        store.publish()
        slowest = max(slowest, time.monotonic() - started)
print(slowest)
"""

READER = """
import sys, time
from contextlib import closing
from pathlib import Path
from analysis.reading import open_store
slowest, seen = 0.0, set()
last = None
while last != "40":
    started = time.monotonic()
    with closing(open_store(Path(sys.argv[1]))) as con:
        told = con.execute("SELECT value FROM store WHERE key IN ('first', 'second')").fetchall()
    slowest = max(slowest, time.monotonic() - started)
    if last is None:
        print("reading", flush=True)
    (last,) = {value for (value,) in told}  # two of them would be half a change
    seen.add(last)
print(slowest, len(seen))
"""

HOLDER = """
import sys
import duckdb
con = duckdb.connect(sys.argv[1], read_only=True)
con.execute("BEGIN")
print(con.execute("SELECT value FROM store_info WHERE key = 'first'").fetchall(), flush=True)
input()
print(con.execute("SELECT value FROM store_info WHERE key = 'first'").fetchall())
"""

FAR_TOO_LONG = 10.0
"""Seconds. It takes hundredths of one; waiting for a lock would take until the other process ends."""


def start(program: str, db: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, str(db)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> str:
    told, complaint = process.communicate("\n", timeout=120)
    assert process.returncode == 0, complaint
    return told


def test_readers_and_the_writer_do_not_wait_for_each_other(tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    with start(WRITER.replace("41", "2"), db) as first:
        output(first)
    with start(HOLDER, db) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "[('1',)]\n", "open in the middle of a transaction all the while"
        with start(READER, db) as one, start(READER, db) as other:
            for reader in one, other:
                assert reader.stdout is not None
                assert reader.stdout.readline() == "reading\n", "before anything is written"
            with start(WRITER, db) as writer:
                slowest_write = float(output(writer))
            readers = [output(reader).split() for reader in (one, other)]
        assert output(holder) == "[('1',)]\n", "and it still sees the state that it began with"
    assert slowest_write < FAR_TOO_LONG
    for slowest_read, states in readers:
        assert float(slowest_read) < FAR_TOO_LONG
        assert int(states) >= 2
