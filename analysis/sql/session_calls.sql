SELECT * EXCLUDE (session_id) FROM calls WHERE session_id = $session ORDER BY turn_no, response_no, call_no
