SELECT key, value FROM store ORDER BY key
