SELECT * EXCLUDE (session_id, search)
FROM card_remedies
WHERE session_id = $session AND search = $search
ORDER BY interface_no, list_position(['none', 'start-once-per-id', 'start-once-per-round', 'dedup-by-id', 'placeholder-ids'], remedy)
