"""Sound lines whose records lack what others have, or have it in another shape."""

from __future__ import annotations

from collections.abc import Sequence

from tests.cases.case import FIRST, REPLAY
from tests.cases.damage_case import CHATS, DamageCase, Seen, changed, first, healthy_lines, whole
from tests.support.log_script import FinalAnswer, Log, Prompt, Use, answered


def _torn_header() -> DamageCase:
    name = "D20 first line torn"
    lines = healthy_lines(name)
    lines[0] = lines[0][50:]
    return DamageCase(
        name=name,
        reports="google-gemini/gemini-cli#27912: the calls before the next prompt belong to a turn whose prompt is lost",
        files={f"{CHATS}/{name}.jsonl": whole(lines)},
        problems=[(f"{name}.jsonl", 1, "damaged", f"{len(lines[0])} bytes")],
    )


def _no_session_id() -> DamageCase:
    name = "D20 session id lost"
    lines = [changed(line, sessionId=None) for line in healthy_lines(name)]
    return DamageCase(
        name=name,
        reports="google-gemini/gemini-cli#27912: the id comes from the file's name, and that is told once",
        files={f"{CHATS}/{name}.jsonl": whole(lines)},
        problems=[(f"{name}.jsonl", 1, "lost-header", "file's name")],
    )


def _content_is_a_string(shape: str) -> DamageCase:
    """The same call in both turns. With the second prompt lost, the guards would trip on the third occurrence."""
    name = f"D22 content is a string, {shape}"
    again = Use("sh_0", {"command": "make one"})
    log = Log((Prompt(), answered(again), answered(again), FinalAnswer(), Prompt(), answered(again), FinalAnswer()))
    lines = healthy_lines(name, log)
    prompt = first(lines, "user", 1)
    message = {"as the message": "yes", "in content": {"role": "user", "content": "yes"}, "in parts": {"parts": "yes"}}
    lines[prompt] = changed(lines[prompt], message=message[shape])
    return DamageCase(
        name=name,
        reports="wakatime/wakatime-cli#1372",
        files={f"{CHATS}/{name}.jsonl": whole(lines)},
        sessions={"": Seen(classes=(FIRST, REPLAY, REPLAY))},
    )


SPELLINGS = (
    "2026-12-01T10:00:01.000Z",
    "2026-12-01T11:00:02.000+01:00",
    "2026-12-01T10:00:03",
    "2026-12-01 10:00:04.000",
    1796119205,
    1796119206.5,
    1796119207000,
    1796119208000000,
    1796119209000000000,
    "1796119210000",
    [1796119211, 0],
)
"""Seconds 1 to 11 after ten o'clock, each as some client or collector writes it."""


def _spellings_of_time() -> DamageCase:
    name = "E spellings of time"
    lines = healthy_lines(name)
    lines[: len(SPELLINGS)] = [changed(line, timestamp=time) for line, time in zip(lines, SPELLINGS, strict=False)]
    return DamageCase(
        name=name,
        reports="ISO with Z, offset and none; seconds, milliseconds, microseconds, nanoseconds, [seconds, nanoseconds]",
        files={f"{CHATS}/{name}.jsonl": whole(lines)},
    )


def _unreadable_times() -> DamageCase:
    name = "E times that cannot be read"
    lines = [changed(line, timestamp="yesterday") for line in healthy_lines(name)]
    return DamageCase(
        name=name,
        reports="no time is better than a wrong one, and the record is kept; told once",
        files={f"{CHATS}/{name}.jsonl": whole(lines)},
        problems=[(f"{name}.jsonl", 1, "unreadable-time", "yesterday")],
    )


def _clock_steps_back() -> DamageCase:
    """The answer to the second call carries a time eight hours before the session, which lasts an hour."""
    name = "E8 clock steps back"
    lines = healthy_lines(name)
    last = len(lines) - 1
    lines[last] = changed(lines[last], timestamp="2026-12-01T11:00:01.000Z")
    lines[9] = changed(lines[9], timestamp="2026-12-01T02:00:10.000Z")
    return DamageCase(
        name=name,
        reports="okieselbach/AutopilotMonitor#123; claude-code#20992",
        files={f"{CHATS}/{name}.jsonl": whole(lines)},
        problems=[(f"{name}.jsonl", 10, "clock-step", "8.0 hours")],
    )


ODD_RECORDS: Sequence[DamageCase] = (
    _torn_header(),
    _no_session_id(),
    _content_is_a_string("as the message"),
    _content_is_a_string("in content"),
    _content_is_a_string("in parts"),
    _spellings_of_time(),
    _unreadable_times(),
    _clock_steps_back(),
)
