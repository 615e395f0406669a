-- The shortest of a few lengths at which the ids of all main sessions still differ; null where they need all their length.
WITH lengths AS (SELECT unnest([8, 12, 16, 20, 24, 28, 32, 36]) AS length),
apart AS (
    SELECT length, count(DISTINCT left(session_id, length)) = count(*) AS are_apart
    FROM loopscope.main.found_session CROSS JOIN lengths
    WHERE kind = 'main' GROUP BY length
)
SELECT min(length) AS length FROM apart WHERE are_apart
