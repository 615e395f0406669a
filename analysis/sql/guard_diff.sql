-- Two guards over the same calls: one row a pair of decisions, class and model, facts apart from counterfactuals.
-- Every call that is no copy is counted once: where a guard ended the turn earlier it has no decision (`not-reached`), and
-- such a pair is never a fact. A pair is observed only where both guards still stand on history as it happened.
WITH pairs AS (
    SELECT c.session_id, c.turn_no, c.class, c.model,
           coalesce(b.decision, 'not-reached') AS base_decision,
           coalesce(d.decision, 'not-reached') AS candidate_decision,
           CASE WHEN b.basis = 'observed' AND d.basis = 'observed' THEN 'observed' ELSE 'counterfactual' END AS basis
    FROM calls c
    LEFT JOIN (SELECT * FROM decisions WHERE guard = $base) b USING (session_id, turn_no, response_no, call_no)
    LEFT JOIN (SELECT * FROM decisions WHERE guard = $candidate) d USING (session_id, turn_no, response_no, call_no)
    WHERE c.echo_of IS NULL
)
SELECT basis, base_decision, candidate_decision, base_decision = candidate_decision AS same, class, model,
       count(*) AS calls, count(DISTINCT (session_id, turn_no)) AS turns, count(DISTINCT session_id) AS sessions
FROM pairs
GROUP BY basis, base_decision, candidate_decision, class, model
ORDER BY basis DESC, same, calls DESC, base_decision, candidate_decision, class, model
