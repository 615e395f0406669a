SELECT guard FROM guards ORDER BY guard
