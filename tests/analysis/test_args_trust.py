"""Arguments that are not what the client hashed. The signs are those that issue and CASES.md name (B11, redacted exports)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from analysis.analyse import analyse
from ingest.records import Call
from tests.support.session_log import SessionLog, call


def _log(*calls: Call) -> SessionLog:
    log = SessionLog(version="0.15.10").prompt()
    for one in calls:
        log.response(one).answer(one.recorded_id)
    return log


def _states(*calls: Call) -> list[str]:
    return [row.args_state for row in analyse(_log(*calls).facts()).calls]


def _raw(recorded_id: str, text: str, tool: str = "read_file") -> Call:
    """Arguments that stand in the log as bare text."""
    return call(recorded_id, text, tool=tool)  # type: ignore[arg-type]


@pytest.mark.parametrize("constant", ["[REDACTED]", "<redacted>", "***", "[redacted by policy]", "REDACTED", "[HIDDEN]"])
def test_a_constant_in_place_of_a_value(constant: str) -> None:
    assert _states(call("a", {"command": constant}), call("b", {"command": "ls"})) == ["redacted", "whole"]


@pytest.mark.parametrize("value", ["echo [REDACTED] done", "**", "redacted.txt", "a***b"])
def test_a_value_that_only_mentions_it_is_whole(value: str) -> None:
    assert _states(call("a", {"command": value})) == ["whole"]


def test_one_token_for_every_call() -> None:
    assert _states(*(_raw(f"c{n}", "args", tool) for n, tool in enumerate(("read_file", "edit", "glob")))) == ["redacted"] * 3
    same: dict[str, Any] = {"args": "hidden"}
    alike = [call(f"c{n}", same, tool=tool) for n, tool in enumerate(("read_file", "edit", "glob"))]
    assert _states(*alike) == ["redacted"] * 3


def test_one_call_repeated_is_no_token() -> None:
    """It is a loop: calling it redacted would hide it."""
    assert _states(*(call("c0", {"command": "echo same"}) for _ in range(5))) == ["whole"] * 5


def test_an_old_and_a_new_tool_name_with_equal_arguments_are_whole() -> None:
    """Recording j_alias_replay."""
    names = ("grep_search", "search_file_content", "search_file_content")
    assert _states(*(call("call_1", {"pattern": "hello"}, tool=name) for name in names)) == ["whole"] * 3


def test_a_token_that_carries_the_calls_own_id() -> None:
    assert _states(*(call(f"call_{n}", {"token": f"args-of-call_{n}"}) for n in range(3))) == ["redacted"] * 3


def test_text_that_breaks_off_in_the_middle_of_json() -> None:
    """CASES B11: paged reads cut at 100 characters, before the offset."""
    cut = ('{"file_path":"' + "/very/long/path" * 10)[:100]
    assert _states(*(_raw(f"c{n}", cut) for n in range(8))) == ["cut"] * 8
    found = analyse(_log(*(_raw("same_id", cut) for _ in range(3))).facts())
    assert [(row.call_class, row.class_reason) for row in found.calls[1:]] == [("unknown", "arguments cut")] * 2


def test_values_that_all_end_at_one_round_length() -> None:
    values = [(f"cat file-{n} " + "and more words " * 10)[:100] for n in range(4)]
    assert _states(*(call(f"c{n}", {"command": value}) for n, value in enumerate(values))) == ["cut"] * 4
    longer = call("long", {"command": "echo " + "x y " * 40})
    assert _states(longer, *(call(f"c{n}", {"command": value}) for n, value in enumerate(values))) == ["whole"] * 5


def test_hashes_of_one_length_are_whole() -> None:
    assert _states(*(call(f"c{n}", {"commit": f"{n:064x}"}) for n in range(5))) == ["whole"] * 5


def test_arguments_nested_deeper_than_python_recurses_stop_nothing() -> None:
    """Of each the first KB is kept, in which nothing is closed: of an object nobody knows the rest, a text is broken off."""
    deep = replace(call("a"), args_json='{"a":' + "[" * 1019, args_bytes=9000)
    assert _states(deep, _raw("b", "[" * 1020)) == ["whole", "cut"]
