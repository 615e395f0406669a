"""The texts of the client's synthetic answers, as the recorded versions wrote them."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from ingest.readers.qwen_answers import ORDINARY, Reading, error_text, read_answer

SHORT = 'Duplicate provider tool call id "{}" was already handled. The duplicate tool call was ignored and not executed again.'
LONG = SHORT + (
    " If you intended to run this tool again, re-issue the call with a new unique tool-call id"
    " (or explicitly different arguments)."
)
SKIP = "Skipped because loop detection stopped the current turn before this tool call could run."
ORPHAN = (
    "Tool execution result was not recorded \u2014 likely interrupted by network failure, abort, or process exit."
    " Treat as failure and retry if needed."
)


def read(text: object, status: str | None = "error", execution: str | None = "not_started") -> Reading:
    return read_answer(error_text(Raw(json.dumps({"error": text}, separators=(",", ":")).encode())), status, execution)


@pytest.mark.parametrize("call_id", ["call_1", "run_shell_command:0", 'a"b', "", 'x" was already handled. y', "\u00fc"])
def test_duplicate_texts_tell_guard_and_quoted_id(call_id: str) -> None:
    assert read(SHORT.format(call_id)) == Reading("duplicate", call_id, "id-breaker")
    assert read(LONG.format(call_id)) == Reading("duplicate", call_id, "fingerprint")


def test_versions_without_execution_status_are_read_too() -> None:
    assert read(SHORT.format("c"), execution=None).answer == "duplicate"


def test_other_synthetic_answers() -> None:
    assert read(SKIP) == Reading("loop-skip")
    assert read(ORPHAN) == Reading("interrupted")
    assert read("[Operation Cancelled] Reason: User did not allow tool call") == Reading("cancelled")
    assert read("anything", status="cancelled") == Reading("cancelled")


def test_a_tool_that_prints_the_same_words_has_run() -> None:
    assert read(LONG.format("c"), execution="error") == ORDINARY
    assert read(SKIP, execution="success") == ORDINARY
    printed = Raw(json.dumps({"output": LONG.format("c")}).encode())
    assert read_answer(error_text(printed), "success", "success") == ORDINARY
    assert read_answer(error_text(printed), None, None) == ORDINARY


@pytest.mark.parametrize(
    "text", ["File not found: /x", SHORT.format("c")[:-1], LONG.format("c") + ".", "see: " + SKIP, None, 7, {}]
)
def test_other_errors_are_the_tools(text: object) -> None:
    assert read(text) == ORDINARY


@pytest.mark.parametrize("raw", [b"", b"null", b'"text"', b'{"error":"\\ud800"}', b'{"error"'])
def test_odd_responses_are_ordinary(raw: bytes) -> None:
    assert read_answer(error_text(Raw(raw)), None, None) == ORDINARY
