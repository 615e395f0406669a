-- What each folder gave that was ever ingested.
SELECT root, count(*) AS files, sum(records)::BIGINT AS records, sum(problems)::BIGINT AS problems,
       max(read_at) AS last_read_at
FROM sources
GROUP BY root
ORDER BY root
