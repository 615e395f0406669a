-- The sessions with calls among the chosen turns, and whether a guard that decides by repeats could do anything in them but run
-- every call that was run. Judged over the whole session, chosen or not: what is handled comes from before.
WITH eventful AS (
    SELECT session_id FROM loopscope.main.found_decisions
    UNION ALL
    SELECT session_id FROM loopscope.main.found_calls
    WHERE call_class NOT IN ('first-use', 'no-id') OR outcome NOT IN ('executed', 'failed', 'cancelled', 'unanswered')
    UNION ALL
    SELECT session_id FROM loopscope.main.found_calls
    WHERE provider_id IS NOT NULL GROUP BY session_id HAVING count(*) > count(DISTINCT provider_id)
    UNION ALL
    SELECT session_id FROM loopscope.main.fact_log WHERE compactions > 0
)
SELECT t.session_id, CAST(sum(t.calls) AS BIGINT) AS calls, t.session_id IN (SELECT session_id FROM eventful) AS is_eventful
FROM found_turns t
GROUP BY t.session_id
HAVING sum(t.calls) > 0
ORDER BY t.session_id
