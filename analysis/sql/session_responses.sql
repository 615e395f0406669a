SELECT * EXCLUDE (session_id) FROM responses WHERE session_id = $session ORDER BY turn_no, response_no
