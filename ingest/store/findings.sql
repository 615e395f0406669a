-- Findings: what analysis made of the facts, one table a list of analysis/findings.py, columns named as its fields.
-- Thrown away and made anew when the analysis version changes.

CREATE OR REPLACE TABLE found_session (
    session_id VARCHAR NOT NULL, kind VARCHAR NOT NULL, parent_session_id VARCHAR, forked_from VARCHAR,
    client VARCHAR NOT NULL, client_version VARCHAR, entry_point VARCHAR NOT NULL,
    entry_point_confidence VARCHAR NOT NULL, guard_in_force VARCHAR NOT NULL, cwd VARCHAR,
    started_at TIMESTAMP, ended_at TIMESTAMP, same_response_duplicates BIGINT, loop_detection VARCHAR NOT NULL
);
CREATE OR REPLACE TABLE found_turns (
    session_id VARCHAR NOT NULL, turn_no INTEGER NOT NULL, prompt_id VARCHAR, origin VARCHAR NOT NULL,
    started_at TIMESTAMP, ended_at TIMESTAMP, model VARCHAR, client_version VARCHAR, entry_point VARCHAR NOT NULL,
    guard_in_force VARCHAR NOT NULL, responses INTEGER NOT NULL, calls INTEGER NOT NULL,
    verdict VARCHAR NOT NULL, reason VARCHAR NOT NULL, confidence VARCHAR NOT NULL, evidence VARCHAR[] NOT NULL,
    open_ended BOOLEAN NOT NULL, progressed_at TIMESTAMP, stale_at TIMESTAMP, rests_on_a_limit BOOLEAN NOT NULL,
    context_kept BOOLEAN, looping VARCHAR, inherited BOOLEAN NOT NULL
);
CREATE OR REPLACE TABLE found_responses (
    session_id VARCHAR NOT NULL, turn_no INTEGER NOT NULL, response_no INTEGER NOT NULL, ts TIMESTAMP,
    model VARCHAR, provider VARCHAR, tokens_in BIGINT, tokens_out BIGINT, tokens_cached BIGINT,
    stop_reason VARCHAR, calls INTEGER NOT NULL, has_text BOOLEAN NOT NULL
);
CREATE OR REPLACE TABLE found_calls (
    session_id VARCHAR NOT NULL, turn_no INTEGER NOT NULL, response_no INTEGER NOT NULL, call_no INTEGER NOT NULL,
    ts TIMESTAMP, model VARCHAR, tool VARCHAR NOT NULL, recorded_id VARCHAR, provider_id VARCHAR,
    id_source VARCHAR NOT NULL, fingerprint BLOB, call_class VARCHAR NOT NULL, class_reason VARCHAR, class_by_call_half VARCHAR,
    outcome VARCHAR NOT NULL, args_json VARCHAR NOT NULL USING COMPRESSION zstd, args_bytes BIGINT NOT NULL, args_state VARCHAR NOT NULL,
    result_status VARCHAR, error_class VARCHAR, result_digest BLOB, duration_ms DOUBLE,
    uuid VARCHAR, part INTEGER NOT NULL, inherited BOOLEAN NOT NULL,
    source_path VARCHAR NOT NULL, source_line BIGINT NOT NULL
);
CREATE OR REPLACE TABLE found_dead_calls (
    session_id VARCHAR NOT NULL, ts TIMESTAMP, model VARCHAR, tool VARCHAR NOT NULL, recorded_id VARCHAR,
    fingerprint BLOB, args_json VARCHAR NOT NULL, args_bytes BIGINT NOT NULL,
    source_path VARCHAR NOT NULL, source_line BIGINT NOT NULL
);
CREATE OR REPLACE TABLE found_orphans (
    session_id VARCHAR NOT NULL, turn_no INTEGER NOT NULL, recorded_id VARCHAR,
    source_path VARCHAR NOT NULL, byte_offset BIGINT NOT NULL, line BIGINT NOT NULL
);
CREATE OR REPLACE TABLE found_odd_copies (
    session_id VARCHAR NOT NULL, kind VARCHAR NOT NULL, source_path VARCHAR NOT NULL, byte_offset BIGINT NOT NULL, line BIGINT NOT NULL
);
CREATE OR REPLACE TABLE found_decisions (
    guard VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_no INTEGER NOT NULL, response_no INTEGER NOT NULL,
    call_no INTEGER NOT NULL, decision VARCHAR NOT NULL
);
CREATE OR REPLACE TABLE found_divergences (
    guard VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_no INTEGER NOT NULL, response_no INTEGER NOT NULL,
    call_no INTEGER NOT NULL
);
CREATE OR REPLACE TABLE found_trips (
    guard VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_no INTEGER NOT NULL, response_no INTEGER NOT NULL,
    provider_id VARCHAR, tool VARCHAR, model VARCHAR, basis VARCHAR NOT NULL, recorded BOOLEAN NOT NULL,
    told_user BOOLEAN, telemetry VARCHAR NOT NULL, trip_class VARCHAR
);
CREATE OR REPLACE TABLE found_loop_events (
    session_id VARCHAR NOT NULL, prompt_id VARCHAR, turn_no INTEGER, loop_type VARCHAR NOT NULL, ts TIMESTAMP,
    model VARCHAR, explained_by VARCHAR NOT NULL
);
CREATE OR REPLACE TABLE found_findings (
    finding_id VARCHAR NOT NULL, kind VARCHAR NOT NULL, session_id VARCHAR NOT NULL, turn_no INTEGER,
    severity INTEGER NOT NULL, reason VARCHAR NOT NULL, confidence VARCHAR NOT NULL, evidence VARCHAR[] NOT NULL,
    what_to_try VARCHAR NOT NULL, wasted_calls INTEGER, wasted_seconds DOUBLE, wasted_tokens BIGINT
);
CREATE OR REPLACE TABLE found_cards (
    session_id VARCHAR NOT NULL, interface_no INTEGER NOT NULL, search VARCHAR NOT NULL, card_no INTEGER NOT NULL,
    card_id VARCHAR, surface VARCHAR NOT NULL, tool VARCHAR, round_no BIGINT,
    turn_no INTEGER, response_no INTEGER, call_no INTEGER,
    starts INTEGER NOT NULL, completions INTEGER NOT NULL, nth_of_id INTEGER NOT NULL, cards_of_id INTEGER NOT NULL,
    started_at TIMESTAMP, finished_at TIMESTAMP, state VARCHAR NOT NULL, result_lines BIGINT NOT NULL,
    is_stuck BOOLEAN NOT NULL, ends_right BOOLEAN NOT NULL, cause VARCHAR, cause_is_certain BOOLEAN NOT NULL, reason VARCHAR,
    trip_guard VARCHAR, trip_turn_no INTEGER, trip_response_no INTEGER, fixed_by VARCHAR[] NOT NULL,
    source_path VARCHAR NOT NULL, source_line BIGINT NOT NULL, finished_line BIGINT
);
CREATE OR REPLACE TABLE found_card_remedies (
    session_id VARCHAR NOT NULL, interface_no INTEGER NOT NULL, surface VARCHAR NOT NULL, source_path VARCHAR NOT NULL,
    search VARCHAR NOT NULL, remedy VARCHAR NOT NULL, about VARCHAR NOT NULL,
    cards INTEGER NOT NULL, waiting INTEGER NOT NULL, wrong INTEGER NOT NULL,
    swallowed_calls INTEGER NOT NULL, run_again INTEGER NOT NULL, loses VARCHAR
);
-- The guards that were replayed, one row each, written with the findings.
CREATE OR REPLACE TABLE found_guards (guard VARCHAR NOT NULL, about VARCHAR NOT NULL, source VARCHAR NOT NULL);
