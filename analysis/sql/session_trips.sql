SELECT x.* EXCLUDE (session_id), coalesce(x.guard = t.guard_in_force, false) AS in_force
FROM trips x LEFT JOIN turns t USING (session_id, turn_no)
WHERE x.session_id = $session
ORDER BY x.turn_no, x.response_no, in_force DESC, x.guard
