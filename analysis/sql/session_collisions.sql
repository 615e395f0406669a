-- Each call that reuses an id with other arguments, beside the call that took the id first.
SELECT c.turn_no, c.response_no, c.call_no, c.provider_id, c.tool, c.args_json,
       f.turn_no AS first_turn_no, f.response_no AS first_response_no, f.call_no AS first_call_no,
       f.tool AS first_tool, f.args_json AS first_args_json
FROM calls c
JOIN calls f ON f.session_id = c.session_id AND f.provider_id = c.provider_id AND f.class = 'first-use'
            AND (f.turn_no, f.response_no, f.call_no) < (c.turn_no, c.response_no, c.call_no)
WHERE c.session_id = $session AND c.class = 'collision'
-- An id is free again after a compaction or a rewind: the newest first use is the one that the guard compares with.
QUALIFY row_number() OVER (PARTITION BY c.turn_no, c.response_no, c.call_no
                           ORDER BY f.turn_no DESC, f.response_no DESC, f.call_no DESC) = 1
ORDER BY c.turn_no, c.response_no, c.call_no
