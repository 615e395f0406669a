-- How much of the history a comparison of two guards stands on, one row. A call is valid where both guards' decisions are
-- known and are facts.
SELECT count(*) AS calls,
       count(*) FILTER (is_valid) AS valid_calls,
       count(*) FILTER (basis = 'observed' AND NOT is_valid) AS unknown_calls,
       count(*) FILTER (basis <> 'observed') AS counterfactual_calls,
       count(*) FILTER (is_valid AND base_decision <> candidate_decision) AS differing_calls,
       count(DISTINCT (session_id, turn_no)) AS turns,
       count(DISTINCT (session_id, turn_no)) FILTER (is_valid AND base_decision <> candidate_decision) AS differing_turns,
       count(DISTINCT session_id) AS sessions,
       count(*) FILTER (is_valid AND base_decision = 'execute') AS base_executes,
       count(*) FILTER (is_valid AND base_blocks) AS base_blocks,
       count(*) FILTER (is_valid AND base_decision = 'trip') AS base_trips,
       count(*) FILTER (is_valid AND base_blocks AND class = 'collision') AS base_blocks_collisions,
       count(*) FILTER (is_valid AND base_blocks AND class IN ('replay', 'later-replay')) AS base_catches_replays,
       count(*) FILTER (is_valid AND base_decision = 'execute' AND class IN ('replay', 'later-replay')) AS base_misses_replays,
       count(*) FILTER (is_valid AND base_blocks AND class = 're-run') AS base_blocks_re_runs,
       count(*) FILTER (is_valid AND base_blocks AND class = 're-run' AND candidate_decision = 'execute') AS re_runs_released
FROM {guard_pairs}
