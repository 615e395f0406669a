-- How many sessions there are to look at, sub-agents among them.
SELECT count(*) AS sessions FROM sessions
