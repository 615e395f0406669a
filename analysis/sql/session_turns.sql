SELECT * EXCLUDE (session_id) FROM turns WHERE session_id = $session ORDER BY turn_no
