-- What one guard decided in each session, those first in which it decided most that is not `execute`.
WITH decided AS (
    SELECT d.session_id, d.turn_no, d.response_no, d.call_no, d.decision, d.basis, f.decision AS in_force
    FROM decisions d
    JOIN turns t USING (session_id, turn_no)
    LEFT JOIN decisions f
           ON f.guard = t.guard_in_force AND f.session_id = d.session_id AND f.turn_no = d.turn_no
          AND f.response_no = d.response_no AND f.call_no = d.call_no AND f.basis = 'observed'
    WHERE d.guard = $guard
), diverged AS (
    SELECT session_id,
           arg_min(turn_no || '.' || response_no || '.' || call_no, (turn_no, response_no, call_no)) AS first_divergence
    FROM divergences WHERE guard = $guard GROUP BY session_id
)
SELECT session_id, count(*) AS calls,
       count(*) FILTER (decision = 'execute') AS execute,
       count(*) FILTER (decision = 'suppress') AS suppress,
       count(*) FILTER (decision = 'trip') AS trip,
       count(*) FILTER (decision = 'drop') AS drop,
       count(*) FILTER (decision = 'unknown') AS unknown,
       count(*) FILTER (basis = 'observed' AND decision <> 'unknown') AS observed,
       any_value(first_divergence) AS first_divergence,
       count(*) FILTER (basis = 'observed' AND decision <> 'unknown' AND in_force <> 'unknown' AND decision <> in_force)
           AS differs_from_in_force
FROM decided LEFT JOIN diverged USING (session_id)
GROUP BY session_id
ORDER BY trip DESC, suppress DESC, unknown DESC, session_id
