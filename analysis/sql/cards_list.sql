-- The cards of an interface that finds a card by this search: those that share their id or wait for ever, or every one of them.
-- Sessions with a stuck card come first.
SELECT * EXCLUDE (search)
FROM cards_by_search
WHERE search = $search AND ($every OR cards_of_id > 1 OR is_stuck)
ORDER BY bool_or(is_stuck) OVER (PARTITION BY session_id) DESC, session_id, interface_no, card_no
