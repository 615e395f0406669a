SELECT * EXCLUDE (session_id) FROM dead_calls WHERE session_id = $session ORDER BY source_path, source_line
