"""A store of an earlier program, brought to this one's schema. Its logs are gone, so what it says is all there is.

`data/store-of-schema-4.zst`: made by the last program of schema 4 from `h6_compress_between` and `l_subagent_replay.acp` of
0.21.10 and one log of cards, which lay below /logs.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cli.engine import run_ingest
from ingest.packed import plain_blocks
from ingest.records import CardEvent as Card
from ingest.records import Compaction, Event, Prompt, Response, Result, SourceRecord
from tests.support.stored_records import stored_records

OLD_STORE = Path(__file__).parent / "data" / "store-of-schema-4.zst"
TABLES: dict[type[SourceRecord], str] = {
    Prompt: "fact_prompt",
    Response: "fact_response",
    Result: "fact_result",
    Compaction: "fact_compaction",
    Event: "fact_event",
    Card: "fact_card_event",
}
PLACE = {"byte_offset": "offset", "byte_length": "length", "line": "line"}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    db = tmp_path / "store.duckdb"
    with OLD_STORE.open("rb") as packed:
        db.write_bytes(b"".join(plain_blocks(packed.read(4096), packed, 1 << 20)))
    return db


Rows = dict[str, list[dict[str, Any]]]


def rows_before(db: Path) -> Rows:
    """Of each table, the place in the old tables' words among them."""
    with duckdb.connect(db, read_only=True) as con:
        found: Rows = {}
        for table in (*TABLES.values(), "fact_call"):
            queried = con.execute(
                f"SELECT source_path, t.* EXCLUDE (source_id, seq) FROM {table} t JOIN fact_source USING (source_id) "
                "ORDER BY source_path, seq"
            )
            names = [name for name, *_ in queried.description]
            found[table] = [dict(zip(names, row, strict=True)) for row in queried.fetchall()]
        return found


def field(record: SourceRecord, name: str) -> object:
    if name == "ts":
        return record.ts and (datetime(1970, 1, 1) + timedelta(microseconds=record.ts))
    return getattr(record.place, PLACE[name]) if name in PLACE else getattr(record, name)


@pytest.mark.parametrize("records_at_once", [20_000, 3])
def test_every_value_is_kept(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records_at_once: int) -> None:
    monkeypatch.setattr("ingest.store.repack._RECORDS_AT_ONCE", records_at_once)
    before = rows_before(db)
    assert [len(rows) for rows in before.values()] == [5, 12, 5, 1, 43, 10, 5]
    run_ingest([tmp_path / "nothing new"], db)
    with duckdb.connect(db, read_only=True) as con:
        stored = stored_records(con)
    for kind, table in TABLES.items():
        kept = [
            {"source_path": path} | {name: field(record, name) for name in before[table][0] if name != "source_path"}
            for path, record in stored
            if type(record) is kind
        ]
        assert sorted(kept, key=repr) == sorted(before[table], key=repr)
        assert all(record.place.source == path for path, record in stored)
    names = ("tool", "recorded_id", "fingerprint", "args_json", "args_bytes", "args_state", "part")
    calls = [call for _, record in stored if isinstance(record, Response) for call in record.calls]
    assert sorted(tuple(getattr(call, name) for name in names) for call in calls) == sorted(
        tuple(row[name] for name in names) for row in before["fact_call"]
    )


def test_findings_are_made_anew_from_them_and_are_the_same(db: Path, tmp_path: Path) -> None:
    verdicts = "SELECT session_id, turn_no, verdict, reason, calls FROM turns ORDER BY 1, 2"
    cards = "SELECT session_id, card_no, state, source_path FROM cards ORDER BY 1, 2"
    with duckdb.connect(db, read_only=True) as con:
        before = con.execute(verdicts).fetchall(), con.execute(cards).fetchall()
    assert all(before)
    summary = run_ingest([tmp_path / "nothing new"], db)
    assert summary.sessions_analysed > 0
    with duckdb.connect(db, read_only=True) as con:
        assert (con.execute(verdicts).fetchall(), con.execute(cards).fetchall()) == before
