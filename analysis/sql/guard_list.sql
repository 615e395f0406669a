-- The guards that are replayed, and what each did: turns in which it was in force, trips on history as it happened
-- (observed), those of them that killed a fresh call, and over how many of all calls that is counted.
WITH counting AS (SELECT count(*) AS calls FROM found_calls WHERE NOT inherited),
invalid AS (SELECT guard, sum(calls)::BIGINT AS calls FROM {guard_invalid_calls} GROUP BY guard)
SELECT g.guard, g.about, g.source,
       (SELECT count(*) FROM turns t WHERE t.guard_in_force = g.guard AND NOT t.inherited) AS turns_in_force,
       (SELECT count(*) FROM trips x WHERE x.guard = g.guard AND x.basis = 'observed') AS observed_trips,
       (SELECT count(*) FROM trips x WHERE x.guard = g.guard AND x.basis = 'observed' AND x.trip_class = 'collision')
           AS observed_trips_on_fresh_calls,
       counting.calls - coalesce(invalid.calls, 0) AS valid_calls, counting.calls
FROM guards g CROSS JOIN counting LEFT JOIN invalid USING (guard)
ORDER BY g.guard
