-- Records packed, those of one source about one session in a row (or several, of a long one). Rows are cut where the reading of a
-- grown source may go on, so that what is read again replaces whole rows.
CREATE TABLE fact_log (
    source_id INTEGER NOT NULL, first_seq BIGINT NOT NULL, session_id VARCHAR NOT NULL,
    records   BIGINT NOT NULL, compactions BIGINT NOT NULL,
    packed    BLOB NOT NULL
);

-- How long a tool took, as told by a record with this place in its source.
CREATE TABLE fact_tool_time (source_id INTEGER NOT NULL, first_seq BIGINT NOT NULL, tool VARCHAR NOT NULL, duration_ms DOUBLE NOT NULL);
