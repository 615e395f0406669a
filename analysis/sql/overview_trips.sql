-- Breaker trips of the guard that was in force, by the model and by the class of the call that fired; facts only
-- (`observed`), main sessions only, a fork's copied turns left out.
SELECT x.model, x.trip_class, count(*) AS trips
FROM trips x
JOIN turns t USING (session_id, turn_no)
JOIN sessions s USING (session_id)
WHERE x.guard = t.guard_in_force AND x.basis = 'observed' AND NOT t.inherited AND s.kind = 'main'
GROUP BY x.model, x.trip_class
ORDER BY x.model, x.trip_class;
