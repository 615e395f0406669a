-- The cards as an interface shows them that gives an update to the last card of its id (reverse) or to the first (forward).
SELECT * EXCLUDE (session_id, search)
FROM cards_by_search
WHERE session_id = $session AND search = $search
ORDER BY interface_no, card_no
