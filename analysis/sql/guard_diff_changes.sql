-- What changes from guard $base to $candidate by the names that a gate takes: facts alone, each name's calls, turns and sessions.
SELECT change, count(*) AS calls, count(DISTINCT (session_id, turn_no)) AS turns, count(DISTINCT session_id) AS sessions
FROM (SELECT unnest(changes) AS change, session_id, turn_no FROM {guard_pairs} WHERE basis = 'observed')
GROUP BY change
ORDER BY change
