"""Guards in Python that do not come back, end the process or print: each costs one session, and ends nothing else."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from analysis.findings import DecisionRow
from analysis.guards import Contender
from analysis.guards.arguments import no_source
from analysis.guards.base import GuardFailed
from analysis.guards.load import load, load_python
from analysis.guards.process import ProcessGuard
from analysis.reading import open_store
from analysis.trial import Trial, replayed, try_guard
from cli.engine import facts_of
from tests.cli.conftest import Answer, Loopscope
from tests.cli.recordings import session_of

FAULTY = session_of("0.24.4/b_true_replay")
"""Three batches."""
GUARDS = Path(__file__).parents[2] / "data/guards"

FAULTS = {
    "while True: pass": "no answer within 1 s",
    "import time; time.sleep(600)": "no answer within 1 s",
    # It neither sees a signal nor lets another thread run until it is done, which is never.
    "import re; re.match('(a+)+b', 'a' * 60)": "no answer within 1 s",
    "while True:\n    try: raise ValueError\n    except BaseException: continue": "no answer within 1 s",
    "import subprocess; subprocess.run(['sleep', '987'])": "no answer within 1 s",
    "import os; os._exit(7)": "it ended with exit code 7",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "it was killed by SIGKILL",
    "raise SystemExit(0)": "it raised SystemExit: 0",
    "raise ValueError('no')": "it raised ValueError: no",
    "return ['execute', 'execute']": "2 decisions for 1 calls",
    "return 'execute'": "its decisions are no list",
    "return ['perhaps']": "perhaps is no decision",
}


def file_with(tmp_path: Path, body: str, before: str = "", when: str = f"batch.session.session_id == {FAULTY!r}") -> Path:
    file = tmp_path / "guard.py"
    lines = [*before.splitlines(), "class Guard:", "    'mine'", "    def decide(self, batch, handled, answered):"]
    lines += [f"        if {when}:", *("            " + line for line in body.splitlines())]
    file.write_text("\n".join([*lines, "        return ['execute'] * len(batch.calls)", ""]))
    return file


def run(loopscope: Loopscope, recorded: Path, file: Path, *more: object) -> Answer:
    guard = ("--guard", f"bad={file}:Guard", "--reply-within=1")
    return loopscope("guard", "run", *guard, "--version=0.24", "--format=json", "--db", recorded, *more)


@pytest.mark.parametrize("body", FAULTS)
def test_a_fault_costs_its_session_and_no_other(body: str, loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    answer = run(loopscope, recorded, file_with(tmp_path, body))
    assert time.monotonic() - started < 30
    assert answer.code == 4
    rows = {row["session_id"]: row for row in answer.json()}
    failed = {session_id: row["failure"] for session_id, row in rows.items() if row["failure"] is not None}
    assert set(failed) == {FAULTY}
    assert failed[FAULTY].startswith(FAULTS[body])
    assert (rows[FAULTY]["calls"], rows[FAULTY]["unknown"]) == (3, 3)
    assert len(rows) > 20
    assert all(row["execute"] == row["calls"] for session_id, row in rows.items() if session_id != FAULTY)
    listed = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert not [line for line in listed if line.split()[0] == str(os.getpid()) and "python_child" in line]
    assert "sleep 987" not in body or not [line for line in listed if line.endswith(" sleep 987")]


def test_one_that_never_comes_back_is_given_up(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    file = file_with(tmp_path, "while True: pass", when="True")
    answer = loopscope("guard", "run", "--guard", f"bad={file}:Guard", "--reply-within=0.2", "--format=json", "--db", recorded)
    failures = [row["failure"] for row in answer.json()]
    assert answer.code == 4
    assert failures.count("no answer within 0.2 s") == 10
    assert failures.count("it was not asked: it failed in 10 sessions in a row") == len(failures) - 10 > 10


def test_what_it_prints_is_not_in_the_answer(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    file = file_with(tmp_path, "print('{}'); import sys; sys.stdout.write('x'); sys.stdout.flush()", when="True")
    answer = run(loopscope, recorded, file)
    assert answer.code == 0
    assert all(row["execute"] == row["calls"] for row in answer.json())


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("while True: pass", "guard.py:Guard cannot be loaded: no answer within 2 s"),
        ("import os; os._exit(3)", "guard.py:Guard cannot be loaded: it ended with exit code 3"),
        ("raise SystemExit(0)", "guard.py cannot be loaded: SystemExit: 0"),
    ],
)
def test_a_module_that_does_not_load(before: str, message: str, loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    answer = run(loopscope, recorded, file_with(tmp_path, "pass", before=before))
    assert (answer.code, answer.out) == (2, "")
    assert message in " ".join(answer.err.split())


def test_every_command_that_takes_a_guard_comes_back(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    file = file_with(tmp_path, "while True: pass", when="True")
    guard = ("--guard", f"bad={file}:Guard", "--reply-within=0.3")
    diff = ("guard", "diff", "in-force", "bad", *guard, "--session", FAULTY, "--db", recorded)
    assert loopscope(*diff).code == loopscope(*diff, "--fail-on=fresh-call-blocked").code == 4
    cut = loopscope("guard", "fixture", FAULTY, "--between", "fingerprint", "bad", *guard, "--db", recorded)
    assert cut.code == 4
    assert "no answer within 0.3 s" in cut.err
    checked = loopscope("guard", "check", f"{file}:Guard", "--reply-within=0.3", "--format=json")
    assert checked.code == 1
    assert {row["why_not"] for row in checked.json() if row["rule"] != "hello"} == {"no answer within 0.3 s"}


def trials_of(contender: Contender, recorded: Path) -> list[Trial]:
    con = open_store(recorded)
    try:
        ids = [str(row[0]) for row in con.execute("SELECT session_id FROM sessions ORDER BY session_id").fetchall()]
        return [try_guard(facts, contender) for facts in facts_of(con, ids)]
    finally:
        con.close()
        if isinstance(contender.guard, ProcessGuard):
            assert contender.guard.close()


def test_it_decides_as_it_would_in_our_own_process(recorded: Path) -> None:
    text = f"{GUARDS / 'my_guard.py'}:ReadsAreFree"
    apart = trials_of(load("mine", text, no_source, 30), recorded)
    here = trials_of(Contender(load_python("mine", text), text), recorded)
    assert apart == here
    assert len(apart) > 50
    assert {row.decision for trial in apart for row in trial.decisions} >= {"suppress", "trip"}


def test_a_session_that_another_guard_broke_off_is_left(recorded: Path, tmp_path: Path) -> None:
    """The child may be in the middle of it, or waiting for somebody to take what it said."""

    class Fails:
        name = about = "fails"

        def decide(self, batch: object, handled: object, answered: object) -> list[str]:
            raise GuardFailed("on purpose")

    contender = load("mine", f"{GUARDS / 'my_guard.py'}:ReadsAreFree", no_source, 30)
    con = open_store(recorded)
    try:
        (facts,) = facts_of(con, [FAULTY])
    finally:
        con.close()
    try:
        alone = try_guard(facts, contender).decisions
        for order in ((Contender(Fails(), ""), contender), (contender, Contender(Fails(), ""))):  # type: ignore[arg-type]
            with pytest.raises(GuardFailed, match="on purpose"):
                replayed(facts, *order)
            assert try_guard(facts, contender).decisions == alone
        assert [row.decision for row in alone] == ["suppress", "trip"]
        assert isinstance(alone[0], DecisionRow)
    finally:
        assert isinstance(contender.guard, ProcessGuard)
        contender.guard.close()


def test_its_folder_is_not_searched_for_modules(
    loopscope: Loopscope, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    file = file_with(tmp_path, "pass")
    monkeypatch.setattr("sys.path", [entry for entry in __import__("sys").path if entry])
    assert run(loopscope, recorded, file).code == 0
