-- Their rows are in fact_log by now.
DROP TABLE fact_prompt;
DROP TABLE fact_response;
DROP TABLE fact_call;
DROP TABLE fact_result;
DROP TABLE fact_compaction;
DROP TABLE fact_compaction_entry;
DROP TABLE fact_event;
DROP TABLE fact_card_event;
