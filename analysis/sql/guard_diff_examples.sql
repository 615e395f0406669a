-- Calls on which two guards differ as facts, worst first: what the candidate would break, then what it would let happen again,
-- then what it mends. earlier_*: the first call under the same id, with which it is compared. *_divergence: where in that turn
-- each guard first decides otherwise than was done.
WITH differing AS (
    SELECT *,
           CASE WHEN list_has_all(changes, ['fresh-call-blocked', 'trip-gained']) THEN 1
                WHEN list_contains(changes, 'fresh-call-blocked') THEN 2
                WHEN list_contains(changes, 'replay-let-through') THEN 3
                WHEN list_contains(changes, 'newly-blocked') AND class = 're-run' THEN 4
                WHEN list_has_any(changes, ['trip-gained', 'trip-lost']) THEN 5
                WHEN list_contains(changes, 'undecided') THEN 6
                WHEN list_contains(changes, 'replay-newly-caught') THEN 7
                ELSE 8 END AS rank
    FROM {guard_pairs}
    WHERE basis = 'observed' AND len(changes) > 0
), shown AS (
    SELECT * FROM differing ORDER BY rank, session_id, turn_no, response_no, call_no LIMIT $limit
), earlier AS (
    SELECT s.session_id, s.turn_no, s.response_no, s.call_no,
           arg_min({'call': c.session_id || ':' || c.turn_no || '.' || c.response_no || '.' || c.call_no,
                    'tool': c.tool, 'args': c.args_json}, (c.turn_no, c.response_no, c.call_no)) AS first
    FROM shown s JOIN found_calls c
      ON c.session_id = s.session_id AND c.provider_id = s.provider_id
     AND (c.turn_no, c.response_no, c.call_no) < (s.turn_no, s.response_no, s.call_no)
    GROUP BY ALL
)
SELECT s.session_id || ':' || s.turn_no || '.' || s.response_no || '.' || s.call_no AS call, s.changes, s.base_decision,
       s.candidate_decision, s.class, s.class_reason, s.model, s.version, s.entry_point, s.provider_id, s.tool, s.args_json,
       e.first.call AS earlier_call, e.first.tool AS earlier_tool, e.first.args AS earlier_args_json,
       (SELECT turn_no || '.' || response_no || '.' || call_no FROM divergences d
         WHERE d.guard = $base AND d.session_id = s.session_id AND d.turn_no = s.turn_no) AS base_divergence,
       (SELECT turn_no || '.' || response_no || '.' || call_no FROM divergences d
         WHERE d.guard = $candidate AND d.session_id = s.session_id AND d.turn_no = s.turn_no) AS candidate_divergence,
       s.source_path || ':' || s.source_line AS evidence
FROM shown s LEFT JOIN earlier e USING (session_id, turn_no, response_no, call_no)
ORDER BY s.rank, s.session_id, s.turn_no, s.response_no, s.call_no
