-- The same action put to a person again under another id.
SELECT session_id, turn_no, reason, confidence, evidence, what_to_try, wasted_calls, finding_id
FROM findings
WHERE kind = 'high-risk-repeat'
ORDER BY session_id, turn_no, finding_id
