-- How far each guard's decisions reach in one session: what is both observed and known, of all its calls that count, and the sums
-- of that part alone.
WITH counting AS (SELECT count(*) AS calls FROM calls WHERE session_id = $session AND echo_of IS NULL),
valid AS (SELECT guard, decision FROM decisions WHERE session_id = $session AND basis = 'observed' AND decision <> 'unknown')
SELECT g.guard, any_value(counting.calls) AS calls, count(v.decision) AS valid_calls,
       count(v.decision) FILTER (v.decision = 'execute') AS execute,
       count(v.decision) FILTER (v.decision = 'suppress') AS suppress,
       count(v.decision) FILTER (v.decision = 'trip') AS trip,
       count(v.decision) FILTER (v.decision = 'drop') AS drop,
       g.guard = (SELECT guard_in_force FROM sessions WHERE session_id = $session) AS in_force
FROM guards g
CROSS JOIN counting
LEFT JOIN valid v USING (guard)
GROUP BY g.guard
ORDER BY in_force DESC, g.guard
