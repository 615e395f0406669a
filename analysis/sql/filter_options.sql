-- What there is to choose from in the common filters, alphabetically.
SELECT 'model' AS name, model AS value FROM responses WHERE model IS NOT NULL
UNION
SELECT 'project', cwd FROM sessions WHERE cwd IS NOT NULL
UNION
SELECT 'client', client FROM sessions
UNION
SELECT 'version', client_version FROM turns WHERE client_version IS NOT NULL
ORDER BY name, value;
