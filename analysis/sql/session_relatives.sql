-- The sessions next to one: its parent and its sub-agents, the session it was forked from and its own forks.
WITH self AS (SELECT * FROM sessions WHERE session_id = $session)
SELECT CASE WHEN r.session_id = self.parent_session_id THEN 'parent'
            WHEN r.parent_session_id = self.session_id THEN 'sub-agent'
            WHEN r.session_id = self.forked_from THEN 'forked from'
            ELSE 'fork' END AS relation,
       r.session_id, r.started_at, r.turns, r.calls, r.trips, r.verdict, r.reason
FROM sessions r, self
WHERE r.session_id IN (self.parent_session_id, self.forked_from)
   OR self.session_id IN (r.parent_session_id, r.forked_from)
ORDER BY relation, r.started_at, r.session_id
