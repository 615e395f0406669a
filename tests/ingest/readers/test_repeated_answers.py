"""Which answers of a source get one stable digest, through the reader that asks for it."""

from __future__ import annotations

import json
from typing import Any

from analysis.fingerprint import fingerprint
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import Result

SHELL = "run_shell_command"


def _log(*calls: tuple[dict[str, Any], str], status: str = "success", tool: str = SHELL) -> bytes:
    lines: list[dict[str, Any]] = []
    for number, (args, text) in enumerate(calls):
        call_id = f"call_{number}"
        told = {"output" if status == "success" else "error": text}
        call = {"functionCall": {"id": call_id, "name": tool, "args": args}}
        answer = {"functionResponse": {"id": call_id, "name": tool, "response": told}}
        lines.append({"type": "assistant", "message": {"role": "model", "parts": [call]}})
        lines.append(
            {
                "type": "tool_result",
                "message": {"role": "user", "parts": [answer]},
                "toolCallResult": {"callId": call_id, "status": status},
            }
        )
    common = {"sessionId": "s", "timestamp": "2026-11-30T17:00:00.000Z", "parentUuid": None}
    return b"".join(json.dumps({"uuid": f"u{number}", **common, **line}).encode() + b"\n" for number, line in enumerate(lines))


def _results(log: bytes, chunk: int = 1 << 20) -> list[Result]:
    reader = QwenChatReader("/logs/s.jsonl", fingerprint)
    rows = [row for start in range(0, len(log), chunk) for row in reader.feed(log[start : start + chunk])]
    return [row for row in (*rows, *reader.finish()) if isinstance(row, Result)]


def _shell(pgid: int, output: str = "up") -> str:
    return f"Command: status\nOutput: {output}\nExit Code: 0\nProcess Group PGID: {pgid}"


def _distinct(*calls: tuple[dict[str, Any], str]) -> tuple[int, int]:
    """How many plain and how many stable digests."""
    results = _results(_log(*calls))
    return len({result.digest for result in results}), len({result.stable_digest for result in results})


def test_runs_of_one_command_differ_in_their_process_group_alone() -> None:
    assert _distinct(*[({"command": "status"}, _shell(pgid)) for pgid in (30756, 30760, 9, 123456)]) == (4, 1)


def test_a_call_explained_anew_each_time_is_the_same_call() -> None:
    calls = [({"description": f"look {word}", "command": "status"}, _shell(number)) for number, word in enumerate("abc")]
    assert _distinct(*calls) == (3, 1)


def test_a_changed_output_is_another_answer() -> None:
    assert _distinct(*[({"command": "status"}, _shell(1, f"{done} of 3 done")) for done in range(3)]) == (3, 3)


def test_two_answers_that_take_turns_keep_their_digests_apart() -> None:
    results = _results(_log(*[({"command": "status"}, _shell(number, "ab"[number % 2])) for number in range(6)]))
    digests = [result.stable_digest for result in results]
    assert digests == digests[:2] * 3
    assert digests[0] != digests[1]


def test_the_first_answer_of_a_call_keeps_its_own_digest() -> None:
    first, second, other = _results(
        _log(({"command": "status"}, _shell(1)), ({"command": "status"}, _shell(2)), ({"command": "other"}, _shell(3)))
    )
    assert (first.stable_digest, second.stable_digest) == (first.digest, first.digest)
    assert other.stable_digest == other.digest


def test_long_answers_are_compared_byte_by_byte() -> None:
    long = "x" * 16_400
    assert _distinct(*[({"command": "status"}, _shell(number, long)) for number in (1, 2)]) == (2, 2)
    assert _distinct(*[({"command": "status"}, _shell(1, long))] * 2) == (1, 1)


def test_the_chunking_of_the_source_changes_nothing() -> None:
    log = _log(*[({"command": "status"}, _shell(number)) for number in range(5)])
    assert _results(log) == _results(log, chunk=7)


def test_an_error_keeps_its_first_line() -> None:
    (result,) = _results(_log(({"command": "x"}, "\n params must have property 'command'\nat line 3"), status="error"))
    assert result.error_line == "params must have property 'command'"
    (long,) = _results(_log(({"command": "x"}, "e" * 300), status="error"))
    assert long.error_line == "e" * 200


def test_an_answer_that_is_no_error_has_no_error_line() -> None:
    (result,) = _results(_log(({"command": "x"}, "all is well")))
    assert result.error_line is None
