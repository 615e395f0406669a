-- The numbers on top of the overview, one row. Sessions of kind `main` only; sub-agents are counted beside them.
WITH main_turns AS (
    SELECT t.* FROM turns t JOIN sessions s USING (session_id) WHERE s.kind = 'main' AND NOT t.inherited
), main_calls AS (
    SELECT c.call_class AS class, t.guard_in_force FROM found_calls c JOIN main_turns t USING (session_id, turn_no)
    WHERE NOT c.inherited
), main_trips AS (
    SELECT x.trip_class FROM trips x JOIN main_turns t USING (session_id, turn_no)
    WHERE x.guard = t.guard_in_force AND x.basis = 'observed'
), valid AS (
    -- of which the decision of the guard in force is a fact
    SELECT count(*) - coalesce((SELECT sum(i.calls) FROM {guard_invalid_calls} i JOIN main_turns t USING (session_id, turn_no)
                                WHERE i.guard = t.guard_in_force), 0)::BIGINT AS calls
    FROM main_calls WHERE guard_in_force IN (SELECT guard FROM guards)
)
SELECT
    (SELECT count(*) FROM sessions WHERE kind = 'main') AS sessions,
    (SELECT count(*) FROM sessions WHERE kind = 'sub-agent') AS sub_agents,
    (SELECT count(*) FROM main_turns) AS turns,
    (SELECT count(*) FROM main_turns WHERE verdict = 'silent-hang') AS silent_hangs,
    (SELECT count(DISTINCT session_id) FROM main_turns WHERE verdict = 'silent-hang') AS silent_hang_sessions,
    (SELECT count(*) FROM main_turns WHERE looping IS NOT NULL) AS looping_turns,
    (SELECT count(*) FROM main_calls) AS calls,
    (SELECT count(*) FROM main_calls WHERE class = 'replay') AS replays,
    (SELECT count(*) FROM main_calls WHERE class = 'collision') AS collisions,
    (SELECT count(*) FROM main_trips) AS trips,
    (SELECT calls FROM valid) AS valid_calls,  -- of the calls, those that the trips are counted over
    (SELECT count(*) FROM main_trips WHERE trip_class = 'collision') AS collision_trips,
    (SELECT min(started_at) FROM main_turns) AS first_at,
    (SELECT max(coalesce(ended_at, started_at)) FROM main_turns) AS last_at;
