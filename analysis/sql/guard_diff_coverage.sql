-- How much of the history a comparison of two guards stands on, one row. A call is valid where both guards' decisions are
-- known and are facts.
WITH pairs AS (
    SELECT c.session_id, c.turn_no,
           coalesce(b.basis = 'observed' AND d.basis = 'observed', false) AS is_observed,
           coalesce(b.decision = 'unknown' OR d.decision = 'unknown', false) AS is_unknown,
           b.decision <> d.decision AS differs
    FROM calls c
    LEFT JOIN (SELECT * FROM decisions WHERE guard = $base) b USING (session_id, turn_no, response_no, call_no)
    LEFT JOIN (SELECT * FROM decisions WHERE guard = $candidate) d USING (session_id, turn_no, response_no, call_no)
    WHERE c.echo_of IS NULL
), judged AS (
    SELECT *, is_observed AND NOT is_unknown AS is_valid FROM pairs
)
SELECT count(*) AS calls,
       count(*) FILTER (is_valid) AS valid_calls,
       count(*) FILTER (is_observed AND is_unknown) AS unknown_calls,
       count(*) FILTER (NOT is_observed) AS counterfactual_calls,
       count(*) FILTER (is_valid AND differs) AS differing_calls,
       count(DISTINCT (session_id, turn_no)) AS turns,
       count(DISTINCT (session_id, turn_no)) FILTER (is_valid AND differs) AS differing_turns
FROM judged
