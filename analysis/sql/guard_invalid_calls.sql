-- Of how many calls of a turn a guard's decision is no fact: they come after its first divergence or after a trip of its own, or
-- it cannot be known. Turns without such a call have no row. The same as counting in `decisions`, which makes a row a call and
-- guard and takes a hundred times as long over a large store.
WITH facts_end AS (
    SELECT guard, session_id, turn_no, min(response_no) AS response_no
    FROM (SELECT guard, session_id, turn_no, response_no FROM divergences
          UNION ALL
          SELECT guard, session_id, turn_no, response_no FROM trips)
    GROUP BY guard, session_id, turn_no
), invalid AS (
    SELECT e.guard, e.session_id, e.turn_no
    FROM facts_end e JOIN found_calls c USING (session_id, turn_no)
    WHERE c.response_no > e.response_no AND NOT c.inherited
    UNION ALL
    SELECT d.guard, d.session_id, d.turn_no
    FROM found_decisions d LEFT JOIN facts_end e USING (guard, session_id, turn_no)
    WHERE d.decision = 'unknown' AND (e.response_no IS NULL OR d.response_no <= e.response_no)
)
SELECT guard, session_id, turn_no, count(*) AS calls FROM invalid GROUP BY guard, session_id, turn_no
