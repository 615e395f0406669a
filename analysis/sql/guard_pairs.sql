-- What guards $base and $candidate decide on each call that is no copy: the rows of which every comparison is made.
-- `in-force` names the guard that was in force in each turn. Where a guard ended the turn earlier it decides nothing more
-- (`not-reached`), and such a pair is never a fact: it is observed only where both still stand on history as it happened.
--
-- class: as in `calls`, and two more of which the difference matters here. `re-run`: a replay after something that changes state
-- ran, or with another result, so that answering it may have been wrong. `later-replay`: equal to a later call under the id and
-- not to its first, which the shipped guard never compares.
-- changes: the names that a gate may be given; several may hold for one call, none where nothing changes.
--
-- Made from the sparse exceptions and not from the view `decisions`, which it has to agree with (a test holds them together):
-- joined twice, that has a million rows where these have some hundreds.
WITH asked AS (
    SELECT c.session_id, c.turn_no, c.response_no, c.call_no,
           CASE WHEN c.call_class = 'replay' AND starts_with(c.class_reason, 'possible legitimate re-run') THEN 're-run'
                WHEN c.call_class = 'collision' AND starts_with(c.class_reason, 'repeats a later call') THEN 'later-replay'
                ELSE c.call_class END AS class,
           c.class_reason, c.tool, c.provider_id, c.fingerprint, c.args_json, c.uuid, c.part, c.source_path, c.source_line,
           coalesce(c.model, t.model) AS model, t.client_version AS version, t.entry_point, t.guard_in_force,
           CASE WHEN $base = 'in-force' THEN t.guard_in_force ELSE $base END AS base_guard,
           CASE WHEN $candidate = 'in-force' THEN t.guard_in_force ELSE $candidate END AS candidate_guard
    FROM found_calls c JOIN found_turns t USING (session_id, turn_no)
    WHERE NOT c.inherited
), ends AS (
    SELECT guard, session_id, turn_no, min(diverges_at) AS diverges_at, min(trips_at) AS trips_at
    FROM (SELECT guard, session_id, turn_no, response_no AS diverges_at, NULL AS trips_at FROM found_divergences
          UNION ALL SELECT guard, session_id, turn_no, NULL, response_no FROM found_trips)
    GROUP BY guard, session_id, turn_no
), decided AS (
    SELECT a.* EXCLUDE (base_guard, candidate_guard),
           CASE WHEN base_guard NOT IN (SELECT guard FROM found_guards) THEN 'unknown'
                WHEN a.response_no > b.trips_at THEN 'not-reached'
                ELSE coalesce(x.decision, 'execute') END AS base_decision,
           CASE WHEN candidate_guard NOT IN (SELECT guard FROM found_guards) THEN 'unknown'
                WHEN a.response_no > d.trips_at THEN 'not-reached'
                ELSE coalesce(y.decision, 'execute') END AS candidate_decision,
           coalesce(a.response_no <= least(b.trips_at, b.diverges_at), true) AS base_is_fact,
           coalesce(a.response_no <= least(d.trips_at, d.diverges_at), true) AS candidate_is_fact
    FROM asked a
    LEFT JOIN found_decisions x ON x.guard = a.base_guard AND x.session_id = a.session_id AND x.turn_no = a.turn_no
                               AND x.response_no = a.response_no AND x.call_no = a.call_no
    LEFT JOIN found_decisions y ON y.guard = a.candidate_guard AND y.session_id = a.session_id AND y.turn_no = a.turn_no
                               AND y.response_no = a.response_no AND y.call_no = a.call_no
    LEFT JOIN ends b ON b.guard = a.base_guard AND b.session_id = a.session_id AND b.turn_no = a.turn_no
    LEFT JOIN ends d ON d.guard = a.candidate_guard AND d.session_id = a.session_id AND d.turn_no = a.turn_no
), judged AS (
    SELECT *,
           CASE WHEN base_is_fact AND candidate_is_fact THEN 'observed' ELSE 'counterfactual' END AS basis,
           base_decision IN ('suppress', 'trip', 'drop') AS base_blocks,
           candidate_decision IN ('suppress', 'trip', 'drop') AS candidate_blocks
    FROM decided
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
FROM judged
