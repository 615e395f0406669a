"""The records that a store holds, out of their packing."""

from __future__ import annotations

from typing import NamedTuple

import duckdb

from ingest.records import SourceRecord
from ingest.store.record_pack import unpack


class StoredRecord(NamedTuple):
    source_path: str
    record: SourceRecord


def stored_records(con: duckdb.DuckDBPyConnection) -> list[StoredRecord]:
    """Source by source; of a source session by session, each in its order."""
    rows = con.execute(
        "SELECT source_path, packed FROM fact_log JOIN fact_source USING (source_id) "
        "ORDER BY source_path, session_id, first_seq"
    ).fetchall()
    return [StoredRecord(path, record) for path, packed in rows for record in unpack(packed)]
