"""`guard diff --fail-on`, and baselines: what makes it 1, what 4, what 3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Loopscope
from tests.cli.recordings import session_of

DIFF = ("guard", "diff")


def test_a_change_that_is_found_fails(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope(*DIFF, "fingerprint", "id-breaker", "--fail-on=newly-blocked", "--db", recorded)
    assert answer.code == 1
    assert "Gate found: " in answer.err


def test_a_change_that_is_not_found_passes(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope(*DIFF, "id-breaker", "fingerprint", "--fail-on=newly-blocked,replay-let-through", "--db", recorded)
    assert answer.code == 0
    assert "Gate passed: newly-blocked, replay-let-through" in answer.err


def test_any_takes_every_change(loopscope: Loopscope, recorded: Path) -> None:
    assert loopscope(*DIFF, "id-breaker", "fingerprint", "--fail-on=any", "--db", recorded).code == 1


def test_too_little_coverage_cannot_tell(loopscope: Loopscope, recorded: Path) -> None:
    """Of the five calls of this recording two are valid."""
    session_id = session_of("0.12.0/a_same_id_diff_args_underscore.acp")
    arguments = (*DIFF, "id-breaker", "fingerprint", "--fail-on=newly-blocked", "--session", session_id, "--db", recorded)
    answer = loopscope(*arguments)
    assert answer.code == 4
    assert "only 40.0 % of the calls are valid" in answer.err
    assert loopscope(*arguments, "--min-coverage=40").code == 0


def test_a_gate_that_saw_no_replay_cannot_tell_of_replays(loopscope: Loopscope, recorded: Path) -> None:
    session_id = session_of("0.24.4/e_normal")
    answer = loopscope(
        *DIFF, "id-breaker", "fingerprint", "--fail-on=replay-let-through", "--session", session_id, "--db", recorded
    )
    assert answer.code == 4
    assert "no call on which replay-let-through could have shown" in answer.err


def test_a_gate_over_nothing_has_no_data(loopscope: Loopscope, recorded: Path) -> None:
    arguments = (*DIFF, "none", "fingerprint", "--model=other", "--format=json", "--db", recorded)
    assert loopscope(*arguments, "--fail-on=newly-blocked").code == 3
    assert loopscope(*arguments).code == 3


@pytest.mark.parametrize("names", ["", ",", "nonsense", "newly-blocked,nonsense"])
def test_an_unknown_change_is_a_mistake(names: str, loopscope: Loopscope, recorded: Path) -> None:
    assert loopscope(*DIFF, "none", "fingerprint", f"--fail-on={names}", "--db", recorded).code == 2


def test_a_baseline_accepts_what_is(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    arguments = (*DIFF, "id-breaker", "fingerprint", "--db", recorded)
    assert loopscope(*arguments, "--write-baseline", file).code == 0
    held = (*arguments, "--baseline", file, "--fail-on=any")
    assert loopscope(*arguments, "--fail-on=any").code == 1
    answer = loopscope(*held)
    assert (answer.code, "Gate passed" in answer.err) == (0, True)

    # Somebody's baseline says that one released call used to be blocked by both: that is what a gate has to show.
    baseline = json.loads(file.read_bytes())
    key, call = next((key, call) for key, call in baseline["calls"].items() if call["candidate"] == "execute")
    baseline["calls"][key]["candidate"] = "suppress"
    file.write_text(json.dumps(baseline))
    answer = loopscope(*held, "--format=json")
    assert answer.code == 1
    (moved,) = [row for row in answer.json() if row["section"] == "baseline"]
    assert (moved["call"], moved["was"], moved["now"]) == (call["call"], "suppress -> suppress", "suppress -> execute")
    assert moved["why"] == "a guard decides otherwise"
    assert "Not as in the baseline: 1 calls (a guard decides otherwise)." in answer.err


def test_new_logs_are_named_and_count(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    arguments = (*DIFF, "id-breaker", "fingerprint", "--db", recorded)
    loopscope(*arguments, "--version=0.12.0", "--write-baseline", file)
    answer = loopscope(*arguments, "--baseline", file, "--fail-on=collision-released")
    assert answer.code == 1
    assert "calls (new log)." in answer.err
    # One recording in each direction: what the file knows is gone.
    gone = loopscope(*arguments, "--version=0.24.4", "--baseline", file, "--fail-on=newly-blocked")
    assert gone.code == 4
    assert "only 0.0 % of the baseline's calls are still there" in gone.err
    assert "log gone, or left out by a filter" in gone.err


def test_a_baseline_of_others_or_of_nothing_is_a_mistake(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    loopscope(*DIFF, "id-breaker", "fingerprint", "--db", recorded, "--write-baseline", file)
    answer = loopscope(*DIFF, "none", "fingerprint", "--db", recorded, "--baseline", file)
    assert (answer.code, "is of id-breaker and fingerprint" in answer.err) == (2, True)
    file.write_text("{}")
    answer = loopscope(*DIFF, "none", "fingerprint", "--db", recorded, "--baseline", file)
    assert (answer.code, "it is no baseline" in answer.err) == (2, True)


def test_only_the_listed_sessions(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    listed = tmp_path / "sessions.txt"
    names = ("0.24.4/b_true_replay", "0.24.4/d2_missing_ids_same_args")
    listed.write_text("".join(f"{session_of(name)}\n" for name in names))
    arguments = (*DIFF, "none", "fingerprint", "--format=json", "--db", recorded, "--sessions", listed)
    rows = [row for row in loopscope(*arguments).json() if row["section"] == "summary"]
    assert [(row["sessions"], row["calls"]) for row in rows] == [(2, 6)]
    listed.write_text("\n")
    assert loopscope(*arguments).code == 2


def test_a_listed_log_file_names_its_session(loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    from tests.cli.recordings import log_of

    listed = tmp_path / "sessions.txt"
    listed.write_text(f"{log_of('0.24.4/b_true_replay')}\n")
    arguments = (*DIFF, "none", "fingerprint", "--format=json", "--db", recorded, "--sessions", listed)
    (row,) = [row for row in loopscope(*arguments).json() if row["section"] == "summary"]
    assert (row["sessions"], row["calls"]) == (1, 3)
