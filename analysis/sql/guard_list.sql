-- The guards that are replayed, and what each did: turns in which it was in force, trips on history as it happened
-- (observed), those of them that killed a fresh call, and over how many of all calls that is counted.
SELECT g.guard, g.about, g.source,
       (SELECT count(*) FROM turns t WHERE t.guard_in_force = g.guard AND NOT t.inherited) AS turns_in_force,
       (SELECT count(*) FROM trips x WHERE x.guard = g.guard AND x.basis = 'observed') AS observed_trips,
       (SELECT count(*) FROM trips x WHERE x.guard = g.guard AND x.basis = 'observed' AND x.trip_class = 'collision')
           AS observed_trips_on_fresh_calls,
       (SELECT count(*) FROM decisions d WHERE d.guard = g.guard AND d.basis = 'observed' AND d.decision <> 'unknown') AS valid_calls,
       (SELECT count(*) FROM calls WHERE echo_of IS NULL) AS calls
FROM guards g
ORDER BY g.guard
