-- What each remedy makes of the interfaces on which cards share an id or wait for ever; `none` is the interface as it is.
SELECT r.* EXCLUDE (search)
FROM card_remedies r
WHERE r.search = $search
  AND EXISTS (SELECT 1 FROM cards_by_search c
              WHERE c.search = $search AND c.session_id = r.session_id AND c.interface_no = r.interface_no
                AND ($every OR c.cards_of_id > 1 OR c.is_stuck))
ORDER BY r.session_id, r.interface_no,
         list_position(['none', 'start-once-per-id', 'start-once-per-round', 'dedup-by-id', 'placeholder-ids'], r.remedy)
