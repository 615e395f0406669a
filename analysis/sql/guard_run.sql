-- What guard $candidate decided in each session, those first in which it decided most that is not `execute`, and on how many
-- calls as a fact otherwise than guard $base. The decisions by their names count what is counterfactual too, `observed_` facts
-- alone.
WITH diverged AS (
    SELECT session_id,
           arg_min(turn_no || '.' || response_no || '.' || call_no, (turn_no, response_no, call_no)) AS first_divergence
    FROM found_divergences WHERE guard = $candidate GROUP BY session_id
), counted AS (
    SELECT session_id, count(*) AS calls,
           count(*) FILTER (candidate_decision = 'execute') AS execute,
           count(*) FILTER (candidate_decision = 'suppress') AS suppress,
           count(*) FILTER (candidate_decision = 'trip') AS trip,
           count(*) FILTER (candidate_decision = 'drop') AS drop,
           count(*) FILTER (candidate_decision = 'unknown') AS unknown,
           count(*) FILTER (candidate_is_fact AND candidate_decision <> 'unknown') AS observed,
           count(*) FILTER (candidate_is_fact AND candidate_decision = 'execute') AS observed_execute,
           count(*) FILTER (candidate_is_fact AND candidate_decision = 'suppress') AS observed_suppress,
           count(*) FILTER (candidate_is_fact AND candidate_decision = 'trip') AS observed_trip,
           count(*) FILTER (candidate_is_fact AND candidate_decision = 'drop') AS observed_drop,
           count(*) FILTER (NOT candidate_is_fact) AS counterfactual,
           count(*) FILTER (is_valid AND base_decision <> candidate_decision) AS differs_from_in_force
    FROM {guard_pairs}
    WHERE candidate_decision <> 'not-reached'
    GROUP BY session_id
)
SELECT session_id, calls, execute, suppress, trip, drop, unknown, observed, counterfactual, first_divergence,
       differs_from_in_force, observed_execute, observed_suppress, observed_trip, observed_drop
FROM counted LEFT JOIN diverged USING (session_id)
ORDER BY trip DESC, suppress DESC, unknown DESC, session_id
