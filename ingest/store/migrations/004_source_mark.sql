-- Where reading goes on in a source that has grown, and what tells that it still is what was read (ingest/growth.py).
-- A table of its own, because a run over sources that have not changed must not load it.

CREATE TABLE source_mark (source_id INTEGER NOT NULL, mark BLOB NOT NULL);
