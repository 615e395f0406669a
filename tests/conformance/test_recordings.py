"""Every recorded call, decision, trip, loop event and pinned verdict agrees with what the real client did.

LOOPSCOPE_RECORDINGS may name a further folder of recordings with an EXPECTED.md, which is then held to the same.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.conformance.conftest import DATA, Recordings
from tests.conformance.report import compare_folder
from tests.conformance.truth import read_truth
from tests.support.ingested import ingest_into


def test_the_recordings_in_data_agree(recordings: Recordings) -> None:
    comparison = compare_folder(recordings.store, recordings.folder, DATA / "expected.json")
    assert comparison.disagreements == []
    truths = list(read_truth(DATA / "expected.json"))
    turns = [turn for truth in truths for turn in truth.turns]
    # All of the truth was looked at: an empty store or an unread row would agree with everything.
    assert comparison.sessions.of == len(truths) >= 60
    assert comparison.calls.of == sum(len(batch) for turn in turns for batch in turn.batches)
    assert comparison.verdicts.of == sum(turn.verdict is not None for turn in turns)
    assert comparison.trips.of == len(turns)


def test_the_recordings_in_data_are_healthy(recordings: Recordings) -> None:
    assert recordings.store.execute("SELECT * FROM problems").fetchall() == []


def test_the_old_daemons_silent_stops_are_silent_hangs_and_nothing_else_is(recordings: Recordings) -> None:
    truths = [truth for truth in read_truth(DATA / "expected.json") if truth.name.startswith("0.21.10/")]
    daemon = {recordings.session_id(truth.name): truth for truth in truths if truth.entry_point == "acp"}
    silent = {one for one, truth in daemon.items() if "silent-hang" in [turn.verdict for turn in truth.turns]}
    named = recordings.store.execute(
        "SELECT session_id FROM sessions WHERE worst_verdict = 'silent-hang' AND list_contains(?, session_id)",
        [list(daemon)],
    ).fetchall()
    assert {session_id for (session_id,) in named} == silent
    assert 0 < len(silent) < len(daemon)


def test_each_recording_in_data_has_its_truth() -> None:
    folders = {f"{path.parent.name}/{path.name}" for path in (DATA / "recordings").glob("*/*") if path.is_dir()}
    assert folders == {truth.name for truth in read_truth(DATA / "expected.json")}


ELSEWHERE = os.environ.get("LOOPSCOPE_RECORDINGS")  # taken now: the tests run without settings of the person's

if ELSEWHERE is not None:

    def test_the_recordings_elsewhere_agree(tmp_path: Path) -> None:
        folder = Path(ELSEWHERE or "")
        with ingest_into(tmp_path / "store.duckdb", folder) as store:
            comparison = compare_folder(store, folder, folder / "EXPECTED.md")
        assert comparison.disagreements == []
        assert comparison.sessions.agree > 0
