-- What each format of log gave, over all sources ever read.
SELECT format, count(*) AS files, sum(records)::BIGINT AS records, sum(problems)::BIGINT AS problems,
       count(*) FILTER (status = 'gone') AS gone, count(*) FILTER (status IN ('unreadable', 'skipped')) AS not_read,
       count(*) FILTER (status = 'tail-pending') AS tail_pending, max(read_at) AS last_read_at
FROM sources
GROUP BY format
ORDER BY format
