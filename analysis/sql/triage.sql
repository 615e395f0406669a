-- Worst first: what is stuck in silence (1), then what loops (2), then what a guard killed although it was fresh (3), then
-- the rest; the newest first among equals. A turn's finding brings the turn's model and version, a session's the session's.
SELECT CASE f.severity WHEN 1 THEN 'critical' WHEN 2 THEN 'high' WHEN 3 THEN 'medium' ELSE 'low' END AS severity,
       f.session_id, s.kind AS session_kind, f.turn_no, coalesce(t.model, list_extract(s.models, -1)) AS model,
       coalesce(t.client_version, s.client_version) AS client_version,
       coalesce(t.entry_point, s.entry_point) AS entry_point,
       coalesce(t.verdict, s.verdict) AS verdict, f.kind, f.reason, f.confidence, f.evidence, f.what_to_try,
       f.wasted_calls, f.wasted_seconds, f.wasted_tokens, coalesce(t.ended_at, s.ended_at) AS ended_at, s.cwd, f.finding_id
FROM findings f
LEFT JOIN turns t USING (session_id, turn_no)
LEFT JOIN sessions s USING (session_id)
ORDER BY f.severity, ended_at DESC NULLS LAST, f.session_id, f.turn_no, f.kind, f.finding_id
