-- What tells that two answers are the same but for times and process ids, and what an error says. Sources whose reader tells
-- neither leave them null.

ALTER TABLE fact_result ADD COLUMN stable_digest BLOB;
ALTER TABLE fact_result ADD COLUMN error_line VARCHAR;
