SELECT * FROM sessions WHERE session_id = $session
