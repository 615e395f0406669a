SELECT * EXCLUDE (session_id) FROM loop_events WHERE session_id = $session ORDER BY ts, turn_no, loop_type
