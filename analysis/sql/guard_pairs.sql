-- What guards $base and $candidate decide on each call that is no copy: the rows of which every comparison is made.
-- `in-force` names the guard that was in force in each turn. Where a guard ended the turn earlier it decides nothing more
-- (`not-reached`), and such a pair is never a fact: it is observed only where both still stand on history as it happened.
--
-- class: as in `calls`, and two more of which the difference matters here. `re-run`: a replay after something that changes state
-- ran, or with another result, so that answering it may have been wrong. `later-replay`: equal to a later call under the id and
-- not to its first, which the shipped guard never compares.
-- changes: the names that a gate may be given; several may hold for one call, none where nothing changes.
WITH sides AS (
    SELECT guard = $base AS is_base, guard = $candidate AS is_candidate, session_id, turn_no, response_no, call_no, decision, basis
    FROM decisions WHERE guard IN ($base, $candidate)
    UNION ALL
    SELECT $base = 'in-force', $candidate = 'in-force', d.session_id, d.turn_no, d.response_no, d.call_no, d.decision, d.basis
    FROM decisions d JOIN turns t USING (session_id, turn_no)
    WHERE 'in-force' IN ($base, $candidate) AND d.guard = t.guard_in_force
), decided AS (
    SELECT c.session_id, c.turn_no, c.response_no, c.call_no,
           CASE WHEN c.call_class = 'replay' AND starts_with(c.class_reason, 'possible legitimate re-run') THEN 're-run'
                WHEN c.call_class = 'collision' AND starts_with(c.class_reason, 'repeats a later call') THEN 'later-replay'
                ELSE c.call_class END AS class,
           c.class_reason, c.tool, c.provider_id, c.fingerprint, c.args_json, c.uuid, c.part, c.source_path, c.source_line,
           coalesce(c.model, t.model) AS model, t.client_version AS version, t.entry_point, t.guard_in_force,
           coalesce(b.decision, 'not-reached') AS base_decision,
           coalesce(d.decision, 'not-reached') AS candidate_decision,
           CASE WHEN b.basis = 'observed' AND d.basis = 'observed' THEN 'observed' ELSE 'counterfactual' END AS basis,
           base_decision IN ('suppress', 'trip', 'drop') AS base_blocks,
           candidate_decision IN ('suppress', 'trip', 'drop') AS candidate_blocks
    FROM found_calls c
    JOIN found_turns t USING (session_id, turn_no)
    LEFT JOIN (SELECT * FROM sides WHERE is_base) b USING (session_id, turn_no, response_no, call_no)
    LEFT JOIN (SELECT * FROM sides WHERE is_candidate) d USING (session_id, turn_no, response_no, call_no)
    WHERE NOT c.inherited
)
SELECT *,
       basis = 'observed' AND 'unknown' NOT IN (base_decision, candidate_decision) AS is_valid,
       list_filter([
           CASE WHEN base_blocks AND candidate_decision = 'execute' THEN 'released' END,
           CASE WHEN base_decision = 'execute' AND candidate_blocks THEN 'newly-blocked' END,
           CASE WHEN base_decision IN ('execute', 'suppress') AND candidate_decision = 'trip' THEN 'trip-gained' END,
           CASE WHEN base_decision = 'trip' AND candidate_decision IN ('execute', 'suppress') THEN 'trip-lost' END,
           CASE WHEN class = 'collision' AND base_blocks AND candidate_decision = 'execute' THEN 'collision-released' END,
           CASE WHEN class IN ('replay', 'later-replay') AND base_blocks AND candidate_decision = 'execute'
                THEN 'replay-let-through' END,
           CASE WHEN class IN ('replay', 'later-replay') AND base_decision = 'execute' AND candidate_blocks
                THEN 'replay-newly-caught' END,
           CASE WHEN class IN ('first-use', 'no-id', 'collision') AND base_decision = 'execute' AND candidate_blocks
                THEN 'fresh-call-blocked' END,
           CASE WHEN basis = 'observed' AND (base_decision = 'unknown') <> (candidate_decision = 'unknown') THEN 'undecided' END
       ], lambda name: name IS NOT NULL) AS changes
FROM decided
