"""CASES part E: telemetry that is cut, delivered twice, named otherwise or told beside the log. The values are the cases' own.

E8 and the spellings of time are logs and stand in part D.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from msgspec.structs import replace

from analysis.analyse import analyse
from ingest.records import Event, Place
from tests.cases.damage_case import CHATS, HEALTHY, healthy_lines, whole
from tests.support.ingested import ingest_into
from tests.support.log_script import Log, Prompt, Use, answered, duplicate
from tests.support.qwen_log import qwen_log
from tests.support.session_log import START, SessionLog, call
from tests.support.stored_records import stored_records
from tests.support.telemetry import Told, loop_detected, otlp_line, outfile

SESSION = "a session"
PROMPTS = [f"{SESSION}########{number}" for number in (1, 2)]
DUPLICATES = "global_tool_call_duplicate"


def rows(folder: Path, query: str, **files: bytes) -> list[tuple[object, ...]]:
    """Of the healthy session and what is told of it in further files, whose names have `_` for their last dot."""
    chats = folder / "logs" / CHATS
    chats.mkdir(parents=True, exist_ok=True)
    (chats / f"{SESSION}.jsonl").write_bytes(whole(healthy_lines(SESSION)))
    for name, data in files.items():
        (folder / "logs" / name.replace("_", ".")).write_bytes(data)
    with ingest_into(folder / "store.duckdb", folder / "logs") as store:
        found: list[tuple[object, ...]] = store.execute(query).fetchall()
    return found


def events(folder: Path, channel: str, **files: bytes) -> list[Event]:
    """What the further files say on that channel, in their order."""
    rows(folder, "SELECT 1", **files)
    with duckdb.connect(folder / "store.duckdb", read_only=True) as store:
        records = [record for _, record in stored_records(store)]
    return [record for record in records if isinstance(record, Event) and record.channel == channel]


LOOP_EVENTS = "SELECT loop_type, prompt_id FROM loop_events ORDER BY ts, prompt_id"


def test_e1_objects_one_after_another_cut_inside_the_last(tmp_path: Path) -> None:
    """google-gemini/gemini-cli#9233, #10924: all complete objects, and one that is still to come or was cut."""
    told = outfile([loop_detected(SESSION, DUPLICATES, PROMPTS[0], second) for second in (3, 5, 8)])
    assert told.count(b"\n") > 60
    cut = told[: -len(told) // 6]
    assert rows(tmp_path, LOOP_EVENTS, telemetry_log=cut) == [(DUPLICATES, PROMPTS[0])] * 2
    source = "SELECT records, status, problems FROM sources WHERE format = 'qwen-telemetry'"
    assert rows(tmp_path, source, telemetry_log=cut) == [(2, "tail-pending", 0)]
    assert rows(tmp_path, source, telemetry_log=told) == [(3, "complete", 0)]


def test_e1_an_object_cut_in_the_middle_of_the_file_is_the_only_loss(tmp_path: Path) -> None:
    first, second, third = (outfile([loop_detected(SESSION, DUPLICATES, PROMPTS[0], second)]) for second in (3, 5, 8))
    told = first + second[: len(second) // 2] + third
    assert len(rows(tmp_path, LOOP_EVENTS, telemetry_log=told)) == 2
    ((kind, line, detail),) = rows(tmp_path, "SELECT kind, line, detail FROM problems", telemetry_log=told)
    assert (kind, line) == ("damaged", first.count(b"\n") + 1)
    assert str(len(second) // 2) in str(detail)


def test_e4_no_event_is_not_no_trip(tmp_path: Path) -> None:
    """qwen-code#9435: predicted trips without an event before the fix, with one after it."""
    chats = tmp_path / CHATS
    chats.mkdir(parents=True)
    for version in ("0.21.10", "0.24.4"):
        again = {"command": "make one"}
        answer = duplicate("sh_0__qwen_dup_2", "sh_0", reissue=version == "0.24.4")
        log = Log(
            (
                Prompt(),
                answered(Use("sh_0", again)),
                answered(Use("sh_0__qwen_dup_2", again), by=(answer,)),
                answered(Use("sh_0__qwen_dup_3", again), by=()),
            ),
            version,
        )
        (chats / f"{version}.jsonl").write_bytes(qwen_log(version, log))
    event = loop_detected("0.24.4", DUPLICATES, "0.24.4########1", 9)
    (tmp_path / "telemetry.log").write_bytes(outfile([event]))
    with ingest_into(tmp_path / "store.duckdb", tmp_path) as store:
        by_version = store.execute(
            """
            SELECT t.client_version, count(p.guard), count(*) FILTER (p.telemetry = 'matched'),
                   (SELECT count(*) FROM loop_events e WHERE e.session_id = t.session_id)
            FROM turns t LEFT JOIN trips p ON p.session_id = t.session_id AND p.turn_no = t.turn_no
                 AND p.guard = t.guard_in_force AND p.basis = 'observed'
            GROUP BY t.client_version, t.session_id ORDER BY 1
            """
        ).fetchall()
    assert by_version == [("0.21.10", 1, 0, 0), ("0.24.4", 1, 1, 1)]


def test_e5_requests_are_not_executions() -> None:
    """Review in qwen-code#9492: one id streamed many times in a response, run once, and the client's counter fired."""
    again = [call("c1", {"command": "make one"}, part=part) for part in range(5)]
    facts = SessionLog().prompt().response(*again).answer("c1").facts()
    event = Event(
        place=Place("telemetry.log", 0, 1, 1),
        session_id="s",
        ts=START + 9_000_000,
        channel="telemetry",
        name="loop_detected",
        loop_type="consecutive_identical_tool_calls",
    )
    found = analyse(replace(facts, events=(event,)))
    assert [row.outcome for row in found.calls] == ["executed", *["dropped"] * 4]
    assert [(row.turn_no, row.explained_by) for row in found.loop_events] == [(1, "detector")]


@pytest.mark.parametrize("way", ["the file twice", "twice in one file", "file and OTLP", "OTLP twice"])
def test_e6_delivered_twice_is_told_once(tmp_path: Path, way: str) -> None:
    """opentelemetry-collector#11056, copilot-sdk#418. Two prompts in the same millisecond stay two."""
    events = [loop_detected(SESSION, DUPLICATES, prompt_id, 5) for prompt_id in PROMPTS]
    copies = {
        "the file twice": {"telemetry_log": outfile(events), "copy_log": outfile(events)},
        "twice in one file": {"telemetry_log": outfile([*events, *events])},
        "file and OTLP": {"telemetry_log": outfile(events), "otlp_json": otlp_line(events)},
        "OTLP twice": {"otlp_json": otlp_line(events) + otlp_line(events[:1]), "otlp2_json": otlp_line(events[1:])},
    }
    assert rows(tmp_path, LOOP_EVENTS, **copies[way]) == [(DUPLICATES, prompt_id) for prompt_id in PROMPTS]


def test_e6_lines_of_a_collector_come_in_any_order(tmp_path: Path) -> None:
    events = [loop_detected(SESSION, DUPLICATES, PROMPTS[second % 2], second) for second in (4, 9, 2, 3)]
    expected = [(DUPLICATES, PROMPTS[number]) for number in (0, 1, 0, 1)]
    assert rows(tmp_path, LOOP_EVENTS, otlp_json=b"".join(otlp_line([event]) for event in events)) == expected


def test_e9_one_vocabulary_and_nothing_dropped(tmp_path: Path) -> None:
    types = ("GLOBAL_TOOL_CALL_DUPLICATE", DUPLICATES, "repeated_tool_execution_failure", "llm_detected_loop", "Something_New")
    events = [loop_detected(SESSION, loop_type, PROMPTS[0], second) for second, loop_type in enumerate(types)]
    found = rows(tmp_path, LOOP_EVENTS, telemetry_log=outfile(events))
    assert [loop_type for loop_type, _ in found] == [
        DUPLICATES,
        DUPLICATES,
        "repeated_tool_execution_failure",
        "llm_detected_loop",
        "something_new",
    ]


def test_e9_a_session_that_switched_detection_off_says_so(tmp_path: Path) -> None:
    """The event is kept with its session, so that a rate can leave the session out; it is no loop."""
    off = Told("qwen-code.loop_detection_disabled", SESSION, 2, {"prompt_id": PROMPTS[0]})
    bare = Told("loop_detection_disabled", "another session", 2, {})
    for name, data in ("telemetry_log", outfile([off, bare])), ("otlp_json", otlp_line([off, bare])):
        folder = tmp_path / name
        told = events(folder, "telemetry", **{name: data})
        assert sorted((event.session_id, event.name, event.prompt_id) for event in told) == [
            (SESSION, "loop_detection_disabled", PROMPTS[0]),
            ("another session", "loop_detection_disabled", None),
        ]
        assert rows(folder, LOOP_EVENTS, **{name: data}) == []


def test_e11_what_is_told_three_times_is_counted_once(tmp_path: Path) -> None:
    """Each call is a part of a response, an answer, an event within the log, an event beside it, and a span."""
    calls = [(at, use) for at, step in enumerate(HEALTHY.steps) if hasattr(step, "calls") for use in step.calls]
    told = [
        Told("qwen-code.tool_call", SESSION, at, {"call_id": use.id, "function_name": use.tool, "status": "success"})
        for at, use in calls
    ]
    assert len(told) == 4
    query = "SELECT count(*), count(*) FILTER (outcome = 'executed'), count(DISTINCT recorded_id) FROM calls"
    assert rows(tmp_path, query, telemetry_log=outfile(told), otlp_json=otlp_line(told)) == [(4, 4, 4)]
    assert rows(tmp_path, "SELECT session_id, calls FROM sessions") == [(SESSION, 4)]


def test_spans_tell_what_the_log_lacks(tmp_path: Path) -> None:
    """The id that the model sent, how long a person was waited for, how the turn ended."""
    span = (
        '{"name":"qwen-code.%s","_spanContext":{"traceId":"t","spanId":"s"},"startTime":[1796119203,0],"endTime":[1796119263,0],'
        '"status":{"code":1},"attributes":{"session.id":"' + SESSION + '",%s},"instrumentationScope":{"name":"qwen-code"}}\n'
    )
    spans = (
        span % ("tool", '"call_id":"sh_0__qwen_dup_2","gen_ai.tool.call.id":"sh_0","gen_ai.tool.name":"run_shell_command"')
        + span % ("tool.blocked_on_user", '"tool.call_id":"sh_0__qwen_dup_2"')
        + span % ("interaction", '"qwen-code.prompt_id":"p","qwen-code.turn_status":"error","error.type":"loop_detected"')
    )
    told = events(tmp_path, "span", telemetry_log=spans.encode())
    assert [
        (e.name, e.call_id, e.attributes.get("provider_call_id"), e.prompt_id, e.status, e.error_class, e.duration_ms)
        for e in told
    ] == [
        ("tool", "sh_0__qwen_dup_2", "sh_0", None, "ok", None, 60_000.0),
        ("tool.blocked_on_user", "sh_0__qwen_dup_2", None, None, "ok", None, 60_000.0),
        ("interaction", None, None, "p", "error", "loop_detected", 60_000.0),
    ]


def test_the_healthy_session_is_that(tmp_path: Path) -> None:
    """What all cases here are compared with."""
    assert rows(tmp_path, LOOP_EVENTS) == []
    with duckdb.connect(tmp_path / "store.duckdb", read_only=True) as store:
        assert store.execute("SELECT count(*) FROM problems").fetchone() == (0,)
        assert store.execute("SELECT turns, calls, verdict FROM sessions").fetchall() == [(2, 4, "completed")]
