-- Every call with what two guards decide on it, in the order of its session: what a baseline is made from and held against.
SELECT session_id, turn_no || '.' || response_no || '.' || call_no AS place, coalesce(uuid || '/' || part, '') AS record,
       left(lower(hex(fingerprint)), 16) AS fingerprint, class, basis, base_decision, candidate_decision, changes
FROM {guard_pairs}
ORDER BY session_id, turn_no, response_no, call_no
