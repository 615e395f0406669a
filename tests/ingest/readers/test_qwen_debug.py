"""The debug log: recorded from 0.24.4 (headless, one id twice in a response), and lines of other runs as they were written."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.qwen_debug import QwenDebugReader
from ingest.records import Event
from tests.ingest.readers.reading import DATA, problems, read, read_chunks, records, stand_in

SESSION = "aa742de9-380a-4103-a3d2-b7a2f9ff38e4"
SOURCE = f"/home/someone/.qwen/debug/{SESSION}.txt"
RECORDED = (DATA / "debug" / f"{SESSION}.txt").read_bytes()

GUARD_LINES = (
    # 0.24.4 headless
    "2026-11-30T21:02:16.404Z [DEBUG] [TOOL_CALL_IDS] Suffixing cross-turn duplicate functionCall id=call_1 "
    "normalizedId=call_1__qwen_dup_2 name=run_shell_command",
    "2026-11-30T21:02:16.433Z [DEBUG] [NON_INTERACTIVE_CLI] [runNonInteractive] Suppressing duplicate provider tool-call id: "
    "call_1 (tool: run_shell_command)",
    "2026-11-30T21:02:16.529Z [DEBUG] [NON_INTERACTIVE_CLI] [runNonInteractive] Dropping batch after repeated duplicate "
    "provider tool-call id: call_1 (tool: run_shell_command)",
    # 0.24.4 daemon
    "2026-11-30T21:02:29.604Z [WARN] [SESSION] Stopping ACP turn after repeated duplicate provider tool-call id: call_1 "
    "(tool: run_shell_command).",
    "2026-11-30T21:02:29.605Z [DEBUG] [SESSION] Stopping ACP turn after daemon loop detection.",
    # 0.24.4 sub-agent
    "2026-11-30T21:03:18.478Z [DEBUG] [processFunctionCalls] Suppressing duplicate provider tool-call id: call_1 "
    "(tool: run_shell_command, round: 2)",
    # 0.24.4, with OpenTelemetry (code)
    "2026-11-30T21:03:19.000Z [DEBUG] [TOOL_CALL_IDS] [trace_id=0af7 span_id=b7ad] Dropping same-turn duplicate functionCall "
    "id=call 7 name=x name=glob",
)  # fmt: skip


def log(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def events(data: bytes) -> list[Event]:
    return [row for row in records(read(QwenDebugReader, data, SOURCE)) if isinstance(row, Event)]


def said(data: bytes) -> list[Event]:
    return [event for event in events(data) if event.name != "debug.stretch"]


def test_the_recorded_duplicate_stands_in_its_session_with_its_line() -> None:
    (event,) = said(RECORDED)
    assert (event.session_id, event.channel, event.name) == (SESSION, "telemetry", "debug.same_response_duplicate")
    assert (event.call_id, event.tool, event.ts) == ("call_1", None, 1796072514_887_000)
    assert event.place.line == 9
    line = RECORDED[event.place.offset : event.place.offset + event.place.length]
    assert line == RECORDED.split(b"\n")[8]
    assert line.endswith(b"Ignoring replay chunk for completed toolCall id=call_1")


def test_the_recorded_file_is_one_stretch_from_its_first_to_its_last_line() -> None:
    (stretch,) = [event for event in events(RECORDED) if event.name == "debug.stretch"]
    # 21:01:52.542 to 21:01:55.812
    assert (stretch.ts, stretch.duration_ms) == (1796072512_542_000, 3270.0)


def test_what_the_guard_did_is_named_by_id_and_tool() -> None:
    assert [(event.name, event.call_id, event.tool) for event in said(log(*GUARD_LINES))] == [
        ("debug.suppressed", "call_1", "run_shell_command"),
        ("debug.dropped_batch", "call_1", "run_shell_command"),
        ("debug.dropped_batch", "call_1", "run_shell_command"),
        ("debug.suppressed", "call_1", "run_shell_command"),
        ("debug.same_response_duplicate", "call 7 name=x", "glob"),
    ]
    assert [event.attributes for event in said(log(*GUARD_LINES)) if event.attributes] == [{"round": "2"}], "the sub-agent's"


def test_a_phrase_within_a_message_is_no_message() -> None:
    quoted = "2026-11-30T21:02:16.433Z [DEBUG] [SHELL] ran { 'echo Dropping same-turn duplicate functionCall id=a name=b' }"
    continued = "Suppressing duplicate provider tool-call id: a (tool: b)"
    assert said(log(quoted, continued, f"  [DEBUG] [X] {continued}")) == []


def test_a_silence_ends_a_stretch() -> None:
    at = "2026-11-30T21:{}Z [INFO] [X] y"
    told = events(log(at.format("00:00.000"), at.format("01:00.000"), at.format("02:00.001"), at.format("02:30.001")))
    assert [(event.place.line, event.duration_ms) for event in told] == [(1, 60_000.0), (3, 30_000.0)]


def test_a_line_without_its_end_waits() -> None:
    rows = read(QwenDebugReader, log(GUARD_LINES[1]) + GUARD_LINES[2].encode(), SOURCE)
    assert [row.name for row in records(rows) if isinstance(row, Event)] == ["debug.suppressed", "debug.stretch"]
    assert [(problem.kind, problem.line) for problem in problems(rows)] == [("torn-tail", 2)]


@given(st.lists(st.integers(0, len(RECORDED)), max_size=6).map(sorted))
def test_any_chunking_gives_the_same(cuts: list[int]) -> None:
    edges = [0, *cuts, len(RECORDED)]
    chunks = [RECORDED[start:end] for start, end in pairwise(edges)]
    assert read_chunks(QwenDebugReader, chunks, SOURCE) == read(QwenDebugReader, RECORDED, SOURCE)


@given(st.integers(0, len(RECORDED)))
def test_reading_goes_on_where_it_stopped(cut: int) -> None:
    first = QwenDebugReader(SOURCE, stand_in)
    before = list(first.feed(RECORDED[:cut]))
    position = first.position()
    assert position is not None
    second = QwenDebugReader(SOURCE, stand_in)
    second.go_on(position, lambda offset, length: RECORDED[offset : offset + length])
    after = [*second.feed(RECORDED[position.offset :]), *second.finish()]
    whole = read(QwenDebugReader, RECORDED, SOURCE)
    assert [*before, *after] == whole
    assert [row.place for row in records([*before, *after])] == [row.place for row in records(whole)]


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    assert all(problem.kind == "torn-tail" for problem in problems(read(QwenDebugReader, log(GUARD_LINES[1]) + data, SOURCE)))
