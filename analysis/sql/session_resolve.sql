-- The sessions that a typed text can mean, of the whole store whatever the filters: the exact id, else the ids that begin with
-- it. A sub-agent is meant only by a text with a slash, each side of which is a prefix, or where nothing else fits:
-- its id begins with its parent's, which would make every prefix of a parent ambiguous. Of some sessions only an interface told.
SELECT session_id
FROM (SELECT session_id, kind FROM loopscope.main.found_session
      UNION ALL
      SELECT DISTINCT session_id, 'main' FROM loopscope.main.found_cards
      WHERE session_id NOT IN (SELECT session_id FROM loopscope.main.found_session))
WHERE starts_with(session_id, $session)
   OR (kind = 'sub-agent' AND contains($session, '/')
       AND starts_with(session_id, split_part($session, '/', 1))
       AND starts_with(substr(session_id, strpos(session_id, '/') + 1), substr($session, strpos($session, '/') + 1)))
QUALIFY CASE WHEN session_id = $session THEN 0 WHEN kind = 'main' OR contains($session, '/') THEN 1 ELSE 2 END
      = min(CASE WHEN session_id = $session THEN 0 WHEN kind = 'main' OR contains($session, '/') THEN 1 ELSE 2 END) OVER ()
ORDER BY session_id
