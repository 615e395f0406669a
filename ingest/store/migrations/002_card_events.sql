-- What user interfaces were told of the calls (records of type CardEvent): a second telling, never counted as calls.
CREATE TABLE fact_card_event (
    source_id INTEGER NOT NULL, seq BIGINT NOT NULL,
    byte_offset BIGINT NOT NULL, byte_length BIGINT NOT NULL, line BIGINT NOT NULL,
    session_id VARCHAR NOT NULL, uuid VARCHAR, parent_uuid VARCHAR, ts TIMESTAMP,
    version VARCHAR, cwd VARCHAR, forked_from VARCHAR,
    surface VARCHAR NOT NULL, kind VARCHAR NOT NULL, card_id VARCHAR, tool VARCHAR,
    round_no BIGINT, stream VARCHAR, stream_index BIGINT,
    args_json VARCHAR, fingerprint BLOB, status VARCHAR, result_lines BIGINT, prompt_id VARCHAR
);
