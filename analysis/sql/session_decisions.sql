-- What each guard decides on each call it saw; `diverges` marks the first call of a turn on which it departs from what was
-- done.
SELECT d.guard, d.turn_no, d.response_no, d.call_no, d.decision, d.basis, v.guard IS NOT NULL AS diverges
FROM decisions d
LEFT JOIN divergences v USING (guard, session_id, turn_no, response_no, call_no)
WHERE d.session_id = $session
ORDER BY d.turn_no, d.response_no, d.call_no, d.guard
