-- Silent hangs a day (UTC, by the turn's start), main sessions; every day from the first to the last, so that a quiet day
-- is a zero.
WITH by_day AS (
    SELECT t.started_at::DATE AS day, count(*) AS turns, count(*) FILTER (t.verdict = 'silent-hang') AS silent_hangs
    FROM turns t JOIN sessions s USING (session_id)
    WHERE s.kind = 'main' AND NOT t.inherited AND t.started_at IS NOT NULL
    GROUP BY day
), days AS (
    SELECT unnest(generate_series(min(day), max(day), INTERVAL 1 DAY))::DATE AS day FROM by_day
)
SELECT d.day, coalesce(b.silent_hangs, 0) AS silent_hangs, coalesce(b.turns, 0) AS turns
FROM days d LEFT JOIN by_day b USING (day)
ORDER BY d.day;
