-- The sessions that the page of that name lists; an empty list or text leaves that side open.
SELECT s.session_id, s.kind, s.verdict, s.worst_verdict, v.rank AS verdict_rank, w.rank AS worst_rank, s.models, s.client_version,
       s.entry_point, s.guard_in_force, s.started_at, s.ended_at, s.turns, s.calls, s.collisions, s.replays, s.trips,
       s.reason, s.confidence, s.cwd
FROM sessions s
JOIN verdict_ranks v ON v.verdict = s.verdict
JOIN verdict_ranks w ON w.verdict = s.worst_verdict
WHERE (len($verdicts) = 0 OR list_contains($verdicts, s.verdict))
  AND (len($worst) = 0 OR list_contains($worst, s.worst_verdict))
  AND (len($entry_points) = 0 OR list_contains($entry_points, s.entry_point))
  AND ($sub_agents OR s.kind = 'main')
  AND contains(lower(concat_ws(' ', s.session_id, s.cwd, s.reason, array_to_string(s.models, ' '))), lower($text));
