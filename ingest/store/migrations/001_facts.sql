-- Facts: what the sources say, one table a record type of ingest/records.py, columns named as its fields.
-- Every row belongs to a source and goes with it; (source_id, seq) is its place in that source's order.
-- Migrated between versions, never rebuilt: the source may be gone.

-- No keys are declared: one process writes, and rows are replaced in the transaction that brings their successors, which is
-- the one thing that DuckDB's indexes do not like.

CREATE TABLE store_info (key VARCHAR NOT NULL, value VARCHAR NOT NULL);  -- analysis_version, published_at, label, ...

CREATE TABLE fact_source (
    source_id      INTEGER NOT NULL,
    source_path    VARCHAR NOT NULL,
    format         VARCHAR NOT NULL,
    client         VARCHAR NOT NULL,
    root           VARCHAR NOT NULL,
    bytes          BIGINT NOT NULL,
    read_bytes     BIGINT NOT NULL,
    records        BIGINT NOT NULL,
    status         VARCHAR NOT NULL,
    read_at        TIMESTAMP NOT NULL,
    -- what tells an unchanged file without opening it
    mtime_ns       BIGINT NOT NULL,
    ctime_ns       BIGINT NOT NULL,
    inode          UBIGINT NOT NULL,
    reader_version INTEGER NOT NULL
);

CREATE TABLE fact_problem (
    source_id   INTEGER NOT NULL,
    byte_offset BIGINT NOT NULL,
    line        BIGINT NOT NULL,
    kind        VARCHAR NOT NULL,
    detail      VARCHAR NOT NULL
);

CREATE TABLE fact_prompt (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL,
    byte_offset BIGINT NOT NULL, byte_length BIGINT NOT NULL, line BIGINT NOT NULL,
    session_id VARCHAR NOT NULL, uuid VARCHAR, parent_uuid VARCHAR, ts TIMESTAMP,
    version VARCHAR, cwd VARCHAR, forked_from VARCHAR,
    origin VARCHAR NOT NULL, prompt_id VARCHAR
);

CREATE TABLE fact_response (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL,
    byte_offset BIGINT NOT NULL, byte_length BIGINT NOT NULL, line BIGINT NOT NULL,
    session_id VARCHAR NOT NULL, uuid VARCHAR, parent_uuid VARCHAR, ts TIMESTAMP,
    version VARCHAR, cwd VARCHAR, forked_from VARCHAR,
    model VARCHAR, provider VARCHAR, response_id VARCHAR, round_key VARCHAR,
    tokens_in BIGINT, tokens_out BIGINT, tokens_cached BIGINT,
    stop_reason VARCHAR, has_text BOOLEAN NOT NULL, has_thought BOOLEAN NOT NULL
);

-- The calls of a response: (source_id, seq) is the response's.
CREATE TABLE fact_call (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL, part INTEGER NOT NULL,
    session_id VARCHAR NOT NULL,
    recorded_id VARCHAR, tool VARCHAR NOT NULL, fingerprint BLOB, provider_id VARCHAR,
    args_json VARCHAR NOT NULL, args_bytes BIGINT NOT NULL, args_state VARCHAR NOT NULL
);

CREATE TABLE fact_result (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL,
    byte_offset BIGINT NOT NULL, byte_length BIGINT NOT NULL, line BIGINT NOT NULL,
    session_id VARCHAR NOT NULL, uuid VARCHAR, parent_uuid VARCHAR, ts TIMESTAMP,
    version VARCHAR, cwd VARCHAR, forked_from VARCHAR,
    recorded_id VARCHAR, tool VARCHAR, part INTEGER NOT NULL, answer VARCHAR NOT NULL,
    quoted_id VARCHAR, guard_hint VARCHAR, status VARCHAR, error_class VARCHAR, execution_status VARCHAR,
    digest BLOB, bytes BIGINT NOT NULL, duration_ms DOUBLE
);

CREATE TABLE fact_compaction (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL,
    byte_offset BIGINT NOT NULL, byte_length BIGINT NOT NULL, line BIGINT NOT NULL,
    session_id VARCHAR NOT NULL, uuid VARCHAR, parent_uuid VARCHAR, ts TIMESTAMP,
    version VARCHAR, cwd VARCHAR, forked_from VARCHAR
);

-- The calls and answers a compaction kept: (source_id, seq) is the compaction's.
CREATE TABLE fact_compaction_entry (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL, entry_no INTEGER NOT NULL,
    session_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL, recorded_id VARCHAR, tool VARCHAR, fingerprint BLOB
);

CREATE TABLE fact_event (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL,
    byte_offset BIGINT NOT NULL, byte_length BIGINT NOT NULL, line BIGINT NOT NULL,
    session_id VARCHAR NOT NULL, uuid VARCHAR, parent_uuid VARCHAR, ts TIMESTAMP,
    version VARCHAR, cwd VARCHAR, forked_from VARCHAR,
    channel VARCHAR NOT NULL, name VARCHAR NOT NULL, prompt_id VARCHAR, model VARCHAR, response_id VARCHAR,
    call_id VARCHAR, tool VARCHAR, status VARCHAR, error_class VARCHAR, message VARCHAR, duration_ms DOUBLE,
    loop_type VARCHAR, attributes MAP(VARCHAR, VARCHAR) NOT NULL
);

-- Sessions whose findings no longer match their facts. Written with the facts, emptied with the findings:
-- a kill between the two leaves the rows here, and the next run heals.
CREATE TABLE dirty_session (session_id VARCHAR NOT NULL);

-- Holds a row while the published copy is behind. Written with the change, emptied after the copy is in place, so that a kill
-- between the two publishes at the next run.
CREATE TABLE unpublished_change (since TIMESTAMP NOT NULL);
