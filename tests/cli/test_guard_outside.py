"""Guards that are programs of their own, as real processes: what they do wrong costs them one session and ends nothing."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Loopscope
from tests.cli.recordings import session_of

PROGRAM = Path(__file__).with_name("guards.py")
FAULTY = session_of("0.24.4/b_true_replay")
"""Three batches."""

FAULTS = {
    "crash": "it ended with exit code 7; it said: no such key: fingerprint",
    "killed": "it was killed by SIGKILL",
    "hang": "no answer within 1 s",
    "hang-with-a-child": "no answer within 1 s",
    "flood": "it wrote more than 1 MB where one line was asked for",
    "flood-of-lines": "its answer is no decisions",
    "flood-of-errors": "no answer within 1 s; it said: xxx",
    "garbage": "its answer is no decisions",
    "other-batch": f"it answered for batch 1 of session {FAULTY} when asked for batch 2 of session {FAULTY}",
    "other-session": "it answered for batch 2 of session somebody-else when asked for",
    "too-few": "0 decisions for 1 calls",
    "no-decision": "perhaps is no decision",
    "closes-its-output": "it closed its output",
    "reads-no-more": "no answer within 1 s",
}


def command(fault: str, session: str = FAULTY) -> str:
    return shlex.join([sys.executable, str(PROGRAM), fault, session])


def run(loopscope: Loopscope, recorded: Path, fault: str, *more: object) -> Answer:
    guard = ("--guard", f"bad={command(fault)}", "--reply-within=1")
    return loopscope("guard", "run", *guard, "--version=0.24", "--format=json", "--db", recorded, *more)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_its_session_and_no_other(fault: str, loopscope: Loopscope, recorded: Path) -> None:
    answer = run(loopscope, recorded, fault, "--jobs=1")
    assert answer.code == 4
    rows = {row["session_id"]: row for row in answer.json()}
    failed = {session_id: row["failure"] for session_id, row in rows.items() if row["failure"] is not None}
    assert set(failed) == {FAULTY}
    assert failed[FAULTY].startswith(FAULTS[fault])
    assert (rows[FAULTY]["calls"], rows[FAULTY]["unknown"]) == (3, 3)
    assert len(rows) > 20
    assert all(row["execute"] == row["calls"] for session_id, row in rows.items() if session_id != FAULTY)
    assert "Failed in 1 sessions." in answer.err


def test_nothing_is_left_running(loopscope: Loopscope, recorded: Path) -> None:
    """A guard that hangs in a child of its own is killed with it."""
    run(loopscope, recorded, "hang-with-a-child", "--jobs=1")
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in listed.splitlines() if line == "sleep 600" or f"{PROGRAM} hang-with-a-child" in line]


def test_one_that_fails_everywhere_is_given_up(loopscope: Loopscope, recorded: Path) -> None:
    """A time limit for each session would be hours on a month of logs."""
    answer = loopscope("guard", "run", "--guard", f"bad={command('crash', '')}", "--jobs=1", "--format=json", "--db", recorded)
    failures = [row["failure"] for row in answer.json() if row["failure"]]
    assert answer.code == 4
    assert "it ended with exit code 7; it said: no such key: fingerprint" in failures
    short = [row for row in answer.json() if not row["failure"]]
    assert all(row["execute"] == row["calls"] for row in short)


def test_several_copies_give_the_rows_of_one(loopscope: Loopscope, recorded: Path) -> None:
    one, three = (run(loopscope, recorded, "garbage", f"--jobs={jobs}") for jobs in (1, 3))
    assert one.json() == three.json()


@pytest.mark.parametrize(
    ("guard", "code", "message"),
    [
        ("/no/such/program --flag", 2, "/no/such/program cannot be started: No such file or directory"),
        ("'unclosed", 2, "is no command"),
        (f"{sys.executable} -c pass", 4, "does not say hello: it ended with exit code 0"),
        (f"{sys.executable} -c 'print(1)'", 4, "does not say hello: its answer to hello is none"),
        (command("other-protocol"), 4, "it speaks protocol 2, and this program 1"),
    ],
)
def test_a_program_that_cannot_be_talked_to(guard: str, code: int, message: str, loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("guard", "run", "--guard", f"bad={guard}", "--reply-within=2", "--db", recorded)
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err


def test_a_failure_is_no_pass_and_a_finding_is_one(loopscope: Loopscope, recorded: Path) -> None:
    """Decisions that are missing count neither for nor against: what was decided elsewhere does."""

    def gate(*more: str) -> int:
        guard = f"bad={command('crash')}"
        arguments = ("guard", "diff", "fingerprint", "bad", "--guard", guard, "--version=0.24", *more, "--db", recorded)
        return loopscope(*arguments).code

    assert gate("--fail-on=newly-blocked") == 4
    assert gate("--fail-on=released") == 1
    assert gate() == 4


def test_what_a_program_is_told(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    """A, B, A, A under one id (recording a2): the handled calls of the id in the order in which they came, each once."""
    written = tmp_path / "told.jsonl"
    session_id = session_of("0.24.4/a2_diff_args_then_replay_first")
    guard = f"mine={command('none')} {written}"
    answer = loopscope("guard", "run", "--guard", guard, "--jobs=1", "--session", session_id, "--db", recorded)
    assert answer.code == 0
    told: list[dict[str, Any]] = [json.loads(line) for line in written.read_text().splitlines()]
    assert [message["type"] for message in told] == ["hello", "session", "prompt", *["batch"] * 4, "end"]
    assert (told[0]["protocol"], told[0]["options"]) == (1, {"name": "mine", "reply_seconds": 10.0})
    assert told[1] == {"type": "session", "session": session_id, "client": "qwen-code", "client_version": "0.24.4"}
    prompt = {"turn": 1, "origin": "user", "entry_point": "headless", "answered": {}, "history_replaced": False, "history": []}
    assert told[2] == {"type": "prompt", "session": session_id, **prompt}
    a, b = ({"command": f"echo {word}", "is_background": False} for word in "AB")
    calls = [message["calls"][0] for message in told[3:7]]
    assert [call["arguments"] for call in calls] == [a, b, a, a]
    assert [[one["arguments"] for one in call["handled"]] for call in calls] == [[], [a], [a, b], [a, b]]
    assert [call["is_handled"] for call in calls] == [False, True, True, True]
    assert {(call["id"], call["name"], call["answered"]) for call in calls} == {("run_shell_command_0", "run_shell_command", 0)}
    assert [message["batch"] for message in told[3:7]] == [1, 2, 3, 4]
