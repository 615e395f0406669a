"""What loopscope says of each case of part D: the sessions as if nothing had happened, the damage with its place and reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from cli.engine import run_ingest
from ingest.summary import Summary
from tests.cases.damage_case import DamageCase
from tests.cases.part_d import PART_D
from tests.support.stored_records import stored_records

NUMBERS = (1, 3, 4, 7, 8, 9, 11, 14, 15, 17, 18, 19, 20, 22, 23)

of_each_case = pytest.mark.parametrize("case", PART_D, ids=lambda case: case.name.replace(" ", "-"))


@dataclass(frozen=True)
class Ingested:
    folder: Path
    store: duckdb.DuckDBPyConnection
    summary: Summary

    def of(self, case: DamageCase) -> Path:
        return self.folder / case.name


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingested]:
    """All cases in one run, each in its folder."""
    base = tmp_path_factory.mktemp("damage")
    folder = base / "logs"
    for case in PART_D:
        for path, data in case.files.items():
            file = folder / case.name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        for link, target in case.links.items():
            (folder / case.name / link).symlink_to(folder / case.name / target)
    summary = run_ingest([folder], base / "store.duckdb", workers=1)
    with duckdb.connect(base / "store.duckdb", read_only=True) as store:
        store.execute("SET VARIABLE as_of = TIMESTAMP '2100-01-01'")
        yield Ingested(folder, store, summary)


def test_every_case_is_here() -> None:
    numbers = {case.name.split()[0] for case in PART_D}
    assert {f"D{number}" for number in NUMBERS} <= numbers
    assert len({case.name for case in PART_D}) == len(PART_D)


@of_each_case
def test_sessions(case: DamageCase, ingested: Ingested) -> None:
    """Those expected and no other, with their turns and their end."""
    rows = ingested.store.execute(
        "SELECT session_id, kind, turns, calls, verdict FROM sessions WHERE starts_with(session_id, ?) ORDER BY 1", [case.name]
    ).fetchall()
    assert rows == sorted(
        (session_id, seen.kind, seen.turns, len(seen.classes), seen.verdict) for session_id, seen in case.expected.items()
    )


@of_each_case
def test_calls(case: DamageCase, ingested: Ingested) -> None:
    for session_id, seen in case.expected.items():
        rows = ingested.store.execute(
            "SELECT class, outcome FROM calls WHERE session_id = ? AND echo_of IS NULL ORDER BY turn_no, response_no, call_no",
            [session_id],
        ).fetchall()
        outcomes = seen.outcomes or ("executed",) * len(seen.classes)
        assert rows == list(zip(seen.classes, outcomes, strict=True)), session_id


@of_each_case
def test_problems(case: DamageCase, ingested: Ingested) -> None:
    """Each damage once, with its place and what is wrong; nothing else."""
    rows = ingested.store.execute(
        "SELECT source_path, line, kind, detail, byte_offset FROM problems WHERE starts_with(source_path, ?) "
        "ORDER BY line, kind",
        [f"{ingested.of(case)}/"],
    ).fetchall()
    assert [(line, kind) for _, line, kind, _, _ in rows] == [(line, kind) for _, line, kind, _ in case.problems]
    for (path, line, _, detail, offset), (end_of_path, _, _, named) in zip(rows, case.problems, strict=True):
        assert path.endswith(end_of_path)
        assert named in detail
        if line:
            before = Path(path).read_bytes()[:offset]
            assert before.count(b"\n") + 1 == line


@of_each_case
def test_sources(case: DamageCase, ingested: Ingested) -> None:
    folder = ingested.of(case)
    rows = ingested.store.execute(
        "SELECT source_path, status FROM sources WHERE starts_with(source_path, ?)", [f"{folder}/"]
    ).fetchall()
    assert dict(rows) == {str(folder / path): case.statuses.get(path, "complete") for path in case.files}
    skipped = {one.path: one.reason for one in ingested.summary.skipped if one.path.startswith(f"{folder}/")}
    assert set(skipped) == {str(folder / path) for path in case.skipped}
    assert all(case.skipped[path] in skipped[str(folder / path)] for path in case.skipped)


def test_nothing_failed(ingested: Ingested) -> None:
    assert (ingested.summary.failed, ingested.summary.unreadable) == ([], [])


def _number(store: duckdb.DuckDBPyConnection, query: str, *values: object) -> object:
    row = store.execute(query, list(values)).fetchone()
    assert row is not None
    return row[0]


def test_d14_the_launch_is_counted_once(ingested: Ingested) -> None:
    launches = _number(
        ingested.store,
        "SELECT count(*) FROM calls WHERE starts_with(session_id, 'D14') AND tool = 'agent' AND NOT contains(session_id, '/')",
    )
    assert launches == len([case for case in PART_D if case.name.startswith("D14")])


def test_d22_a_prompt_in_a_string_clears_what_was_answered(ingested: Ingested) -> None:
    """Each guard answers the second and the third call and trips on none: a trip would mean that the prompt was lost."""
    assert _number(ingested.store, "SELECT count(*) FROM trips WHERE starts_with(session_id, 'D22')") == 0
    suppressed = _number(
        ingested.store,
        "SELECT count(*) FROM decisions "
        "WHERE starts_with(session_id, 'D22') AND guard = 'fingerprint' AND decision = 'suppress'",
    )
    assert suppressed == 2 * len([case for case in PART_D if case.name.startswith("D22")])


def test_e_times_are_read_in_every_spelling(ingested: Ingested) -> None:
    span = ingested.store.execute(
        "SELECT epoch(started_at), epoch(ended_at) FROM sessions WHERE session_id = 'E spellings of time'"
    ).fetchone()
    assert span == (1796119201, 1796119222)
    records = [record for _, record in stored_records(ingested.store) if record.session_id == "E spellings of time"]
    times = [record.ts / 1e6 for record in records if record.place.line <= 11 and record.ts is not None]
    assert sorted(times) == [1796119201 + second + (second == 5) * 0.5 for second in range(11)]
    unreadable = "SELECT started_at FROM sessions WHERE session_id = 'E times that cannot be read'"
    assert _number(ingested.store, unreadable) is None


def test_e8_a_clock_that_steps_back_changes_neither_duration_nor_pairs(ingested: Ingested) -> None:
    query = "SELECT epoch(ended_at - started_at) FROM {} WHERE session_id = 'E8 clock steps back'"
    assert _number(ingested.store, query.format("sessions")) == 3600
    assert _number(ingested.store, query.format("turns") + " AND turn_no = 1") == 13


def test_f11_what_the_shorter_copy_did_alone_is_kept_apart(ingested: Ingested) -> None:
    dead = "SELECT count(*) FROM dead_calls WHERE session_id = 'F11 two roots that went apart'"
    assert _number(ingested.store, dead) == 1
