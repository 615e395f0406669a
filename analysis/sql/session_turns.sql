-- `stopped`: somebody other than the model or a person ended the turn, so that there is something to tell the model.
SELECT * EXCLUDE (session_id),
       verdict = 'stopped-visibly' OR EXISTS (
           SELECT 1 FROM trips x
           WHERE x.session_id = t.session_id AND x.turn_no = t.turn_no AND x.guard = t.guard_in_force AND x.basis = 'observed'
       ) AS stopped
FROM turns t
WHERE session_id = $session
ORDER BY turn_no
