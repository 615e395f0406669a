-- Two guards over the same calls: one row a pair of decisions, class, model, version and entry point (each where it is asked
-- for), facts apart from counterfactuals. Every call that is no copy is counted once.
SELECT basis, base_decision, candidate_decision, base_decision = candidate_decision AS same, changes, class,
       CASE WHEN ($by_model OR false) THEN model END AS model,
       CASE WHEN ($by_version OR false) THEN version END AS version,
       CASE WHEN ($by_entry_point OR false) THEN entry_point END AS entry_point,
       count(*) AS calls, count(DISTINCT (session_id, turn_no)) AS turns, count(DISTINCT session_id) AS sessions
FROM {guard_pairs}
GROUP BY ALL
ORDER BY basis DESC, same, calls DESC, base_decision, candidate_decision, class, model, version, entry_point
