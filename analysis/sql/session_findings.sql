SELECT * EXCLUDE (session_id) FROM findings WHERE session_id = $session ORDER BY severity, turn_no, kind, finding_id
