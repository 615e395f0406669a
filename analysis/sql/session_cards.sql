SELECT * EXCLUDE (session_id) FROM cards WHERE session_id = $session ORDER BY interface_no, card_no
