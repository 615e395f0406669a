-- The public interface: views named and shaped as the README says. Columns may be added, never renamed or dropped.
-- The clock is the session variable `as_of` (a reader sets it; unset, it is now): `running` is computed here, never stored.

CREATE OR REPLACE MACRO as_of() AS coalesce(getvariable('as_of')::TIMESTAMP, (now() AT TIME ZONE 'UTC'));
CREATE OR REPLACE MACRO fresh_for() AS coalesce(getvariable('running_for')::INTERVAL, INTERVAL 10 MINUTE);

-- Worst first; triage and worst_verdict read their order from here and nowhere else.
CREATE OR REPLACE VIEW verdict_ranks AS
SELECT * FROM (VALUES
    ('silent-hang', 1), ('provider-error', 2), ('stopped-visibly', 3), ('truncated', 4), ('unknown', 5),
    ('waiting-for-human', 6), ('running', 7), ('cancelled', 8), ('completed', 9)
) AS ranks (verdict, rank);

CREATE OR REPLACE VIEW turns AS
SELECT session_id, turn_no, prompt_id, origin, started_at, ended_at, model, client_version, entry_point, guard_in_force,
       responses, calls,
       CASE WHEN is_running THEN 'running' ELSE verdict END AS verdict,
       CASE WHEN is_running THEN 'the log ends in mid-turn, and its last progress is fresh' ELSE reason END AS reason,
       CASE WHEN is_running THEN 'probable' ELSE confidence END AS confidence,
       evidence, looping, inherited, context_kept
FROM (
    -- at least the chosen time, and as long as the tool in flight (or the model) may take
    SELECT *, coalesce(open_ended AND as_of() < greatest(stale_at, coalesce(progressed_at, ended_at) + fresh_for()), false)
              AS is_running
    FROM found_turns
);

CREATE OR REPLACE VIEW responses AS
SELECT session_id, turn_no, response_no, ts, model, provider, tokens_in, tokens_out, tokens_cached, stop_reason, calls, has_text
FROM found_responses;

CREATE OR REPLACE VIEW calls AS
SELECT c.session_id, c.turn_no, c.response_no, c.call_no, c.ts, c.model, c.tool, c.recorded_id, c.provider_id, c.id_source,
       lower(hex(c.fingerprint)) AS fingerprint, c.call_class AS class, c.class_reason, c.class_by_call_half, c.outcome,
       CASE WHEN c.inherited THEN
            coalesce(o.session_id, s.forked_from) || ':' || coalesce(o.turn_no, c.turn_no) || '.'
            || coalesce(o.response_no, c.response_no) || '.' || coalesce(o.call_no, c.call_no)
       END AS echo_of,
       c.args_json, c.args_bytes, c.args_state, c.result_status, c.error_class,
       lower(hex(c.result_digest)) AS result_digest, c.duration_ms, c.source_path, c.source_line
FROM found_calls c
JOIN found_session s USING (session_id)
LEFT JOIN found_calls o ON c.inherited AND NOT o.inherited AND o.uuid = c.uuid AND o.part = c.part
                       AND o.session_id <> c.session_id;

CREATE OR REPLACE VIEW dead_calls AS
SELECT session_id, ts, model, tool, recorded_id, lower(hex(fingerprint)) AS fingerprint, args_json, args_bytes,
       source_path, source_line
FROM found_dead_calls;

CREATE OR REPLACE VIEW guards AS SELECT guard, about, source FROM found_guards;

CREATE OR REPLACE VIEW divergences AS SELECT guard, session_id, turn_no, response_no, call_no FROM found_divergences;

CREATE OR REPLACE VIEW trips AS
SELECT guard, session_id, turn_no, response_no, provider_id, tool, model, basis, recorded, told_user, telemetry, trip_class
FROM found_trips;

-- `execute` is not stored: a decision row is made for each call a guard saw, up to the response on which it tripped.
CREATE OR REPLACE VIEW decisions AS
SELECT g.guard, c.session_id, c.turn_no, c.response_no, c.call_no,
       coalesce(x.decision, 'execute') AS decision,
       CASE WHEN d.response_no IS NULL OR c.response_no <= d.response_no THEN 'observed' ELSE 'counterfactual' END AS basis
FROM found_calls c
CROSS JOIN found_guards g
LEFT JOIN found_decisions x
       ON x.guard = g.guard AND x.session_id = c.session_id AND x.turn_no = c.turn_no
      AND x.response_no = c.response_no AND x.call_no = c.call_no
LEFT JOIN found_divergences d ON d.guard = g.guard AND d.session_id = c.session_id AND d.turn_no = c.turn_no
LEFT JOIN found_trips t ON t.guard = g.guard AND t.session_id = c.session_id AND t.turn_no = c.turn_no
WHERE NOT c.inherited AND (t.response_no IS NULL OR c.response_no <= t.response_no);

CREATE OR REPLACE VIEW loop_events AS
SELECT session_id, prompt_id, turn_no, loop_type, ts, model, explained_by FROM found_loop_events;

-- How a turn ended cannot be said while it still runs: findings that rest on its end wait until it is no longer fresh.
CREATE OR REPLACE VIEW findings AS
SELECT f.finding_id, f.kind, f.session_id, f.turn_no, f.severity, f.reason, f.confidence, f.evidence, f.what_to_try,
       f.wasted_calls, f.wasted_seconds, f.wasted_tokens
FROM found_findings f
LEFT JOIN turns t USING (session_id, turn_no)
WHERE f.kind NOT IN ('silent-hang', 'cut-off') OR t.verdict IS DISTINCT FROM 'running';

-- What an interface shows that adds a card at every start. `cards` is the interface whose updates go to the last card of their
-- id; in `cards_by_search` stands the other one too.
CREATE OR REPLACE VIEW cards_by_search AS
SELECT session_id, interface_no, search, card_no, card_id, surface, tool, round_no, turn_no, response_no, call_no,
       started_at AS started, finished_at AS finished, state, result_lines, starts, completions, nth_of_id, cards_of_id,
       is_stuck, ends_right, cause, CASE WHEN cause IS NULL THEN NULL WHEN cause_is_certain THEN 'certain' ELSE 'probable' END
       AS cause_confidence, reason, trip_guard, trip_turn_no, trip_response_no, fixed_by,
       source_path, source_line, finished_line
FROM found_cards;

CREATE OR REPLACE VIEW cards AS SELECT * EXCLUDE (search) FROM cards_by_search WHERE search = 'reverse';

CREATE OR REPLACE VIEW card_remedies AS
SELECT session_id, interface_no, surface, source_path, search, remedy, about, cards, waiting, wrong, swallowed_calls, run_again,
       loses
FROM found_card_remedies;

-- A session's verdict is its last turn's. Counts leave out what a fork copied.
CREATE OR REPLACE VIEW sessions AS
WITH of_turns AS (
    SELECT t.session_id,
           count(*) FILTER (NOT t.inherited) AS turns,
           arg_max(t.verdict, t.turn_no) AS verdict,
           arg_max(t.reason, t.turn_no) AS reason,
           arg_max(t.confidence, t.turn_no) AS confidence,
           arg_min(t.verdict, r.rank) AS worst_verdict
    FROM turns t JOIN verdict_ranks r USING (verdict)
    GROUP BY t.session_id
), of_calls AS (
    SELECT session_id,
           count(*) AS calls,
           count(*) FILTER (call_class = 'collision') AS collisions,
           count(*) FILTER (call_class = 'replay') AS replays
    FROM found_calls WHERE NOT inherited GROUP BY session_id
), of_models AS (
    SELECT session_id, list(DISTINCT model ORDER BY model) AS models
    FROM found_responses WHERE model IS NOT NULL GROUP BY session_id
), of_trips AS (
    SELECT t.session_id, count(*) AS trips
    FROM found_trips t JOIN found_turns u USING (session_id, turn_no)
    WHERE t.guard = u.guard_in_force AND t.basis = 'observed' AND NOT u.inherited
    GROUP BY t.session_id
)
SELECT s.session_id, s.kind, s.parent_session_id, s.forked_from, s.client, s.client_version, s.entry_point,
       s.entry_point_confidence, s.guard_in_force, s.cwd, coalesce(m.models, []::VARCHAR[]) AS models,
       s.started_at, s.ended_at,
       coalesce(t.turns, 0) AS turns, coalesce(c.calls, 0) AS calls, coalesce(c.collisions, 0) AS collisions,
       coalesce(c.replays, 0) AS replays, coalesce(x.trips, 0) AS trips,
       coalesce(t.verdict, 'unknown') AS verdict, coalesce(t.worst_verdict, 'unknown') AS worst_verdict,
       coalesce(t.reason, 'no turn') AS reason, coalesce(t.confidence, 'unknown') AS confidence,
       s.same_response_duplicates, s.loop_detection
FROM found_session s
LEFT JOIN of_turns t USING (session_id)
LEFT JOIN of_calls c USING (session_id)
LEFT JOIN of_models m USING (session_id)
LEFT JOIN of_trips x USING (session_id);

-- Damage only. What analysis found (a result without its call, a copy that goes another way) stands beside what the readers
-- found broken.
CREATE OR REPLACE VIEW problems AS
SELECT s.source_path, p.byte_offset, p.line, p.kind, p.detail
FROM fact_problem p JOIN fact_source s USING (source_id)
UNION ALL
SELECT source_path, byte_offset, line, 'orphan-result',
       'a result of id ' || coalesce(recorded_id, '(none)') || ' in session ' || session_id || ', turn ' || turn_no
       || ': the record of its call is missing'
FROM found_orphans
UNION ALL
SELECT source_path, byte_offset, line, kind,
       CASE kind WHEN 'divergent-copy'
            THEN 'from here on this copy of session ' || session_id || ' goes another way than the longest one, whose way counts'
            ELSE 'says something else than the record of the same uuid in session ' || session_id || ' that counts'
       END
FROM found_odd_copies;

CREATE OR REPLACE VIEW sources AS
SELECT s.source_path, s.format, s.root, s.bytes, s.read_bytes, s.records, coalesce(p.problems, 0) AS problems, s.status, s.read_at
FROM fact_source s
LEFT JOIN (SELECT source_path, count(*) AS problems FROM problems GROUP BY source_path) p USING (source_path)
WHERE s.status <> 'no-log';  -- files that are remembered only so that nobody opens them again

-- What the store says of itself: analysis_version, published_at, and a label such as the demo's.
CREATE OR REPLACE VIEW store AS SELECT key, value FROM store_info;
