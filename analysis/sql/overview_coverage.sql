-- How much of what was read could be judged: a rate above means little where these are low. One row.
SELECT
    (SELECT count(*) FROM calls WHERE echo_of IS NULL) AS calls,
    (SELECT count(*) FROM calls WHERE echo_of IS NULL AND args_state = 'whole') AS whole_args,
    (SELECT count(*) FROM calls WHERE echo_of IS NULL AND class = 'unknown') AS unknown_class,
    (SELECT count(*) FROM sessions) AS sessions,
    (SELECT count(*) FROM sessions WHERE guard_in_force = 'unknown') AS unknown_guard,
    (SELECT count(*) FROM sessions WHERE entry_point = 'unknown') AS unknown_entry_point,
    (SELECT count(*) FROM sources) AS sources,
    (SELECT count(*) FROM sources WHERE problems > 0) AS sources_with_problems,
    (SELECT count(*) FROM sources WHERE status IN ('gone', 'unreadable', 'skipped')) AS sources_not_read;
