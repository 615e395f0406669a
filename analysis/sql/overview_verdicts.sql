-- Main sessions by the verdict of their last turn, worst first; a verdict that nobody has is a zero and not a missing row.
SELECT r.verdict, count(s.session_id) AS sessions
FROM verdict_ranks r
LEFT JOIN sessions s ON s.verdict = r.verdict AND s.kind = 'main'
GROUP BY r.verdict, r.rank
ORDER BY r.rank;
