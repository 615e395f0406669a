"""Each detector of loops fires at its threshold, is silent at one less, and on what only looks like its sign."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import asdict, fields

from analysis.analyse import analyse
from analysis.detectors import DETECTORS, SESSION_DETECTORS, Declared
from analysis.findings import FindingRow, SessionFindings
from analysis.thresholds import DEFAULT_THRESHOLDS, Thresholds
from tests.analysis.detectors.shapes import SHAPES, Shape
from tests.support.loop_log import LoopLog

ALL: tuple[Declared, ...] = (*DETECTORS, *SESSION_DETECTORS)
LOOPS = {detector.id for detector in ALL if detector.is_loop}
each_shape = pytest.mark.parametrize(("kind", "shape"), SHAPES.items(), ids=list(SHAPES))
each_detector = pytest.mark.parametrize("detector", ALL, ids=lambda detector: detector.id)


def found(log: LoopLog) -> SessionFindings:
    return analyse(log.facts())


def of_kind(findings: SessionFindings, kind: str) -> list[FindingRow]:
    return [row for row in findings.findings if row.kind == kind]


def test_every_loop_has_its_shape() -> None:
    assert set(SHAPES) == LOOPS


@each_shape
def test_fires_at_its_threshold(kind: str, shape: Shape) -> None:
    findings = found(shape.at(shape.threshold))
    (row,) = of_kind(findings, kind)
    looping = {turn.looping for turn in findings.turns}
    assert looping == ({kind} if row.turn_no is not None else {None})


@each_shape
def test_silent_at_one_less(kind: str, shape: Shape) -> None:
    findings = found(shape.at(shape.threshold - 1))
    assert {row.kind for row in findings.findings} & LOOPS == set()
    assert {turn.looping for turn in findings.turns} == {None}


@pytest.mark.parametrize(
    "log",
    [log for shape in SHAPES.values() for log in shape.is_not.values()],
    ids=[f"{kind}: {name}" for kind, shape in SHAPES.items() for name in shape.is_not],
)
def test_what_only_looks_like_it(log: Callable[[], LoopLog]) -> None:
    assert {row.kind for row in found(log()).findings} & LOOPS == set()


@each_detector
def test_says_when_it_fires_and_what_to_do(detector: Declared) -> None:
    assert "{" not in detector.when(DEFAULT_THRESHOLDS)
    assert all((detector.why, detector.what_to_try))


def test_ids_are_unique() -> None:
    assert len({detector.id for detector in ALL}) == len(ALL)


def test_every_threshold_is_named_by_a_detector_and_described() -> None:
    for field in fields(Thresholds):
        changed = Thresholds(**{**asdict(DEFAULT_THRESHOLDS), field.name: _other(getattr(DEFAULT_THRESHOLDS, field.name))})
        assert any(detector.when(changed) != detector.when(DEFAULT_THRESHOLDS) for detector in ALL), field.name


def _other(value: float) -> float:
    return value + 1 if isinstance(value, int) else value / 2
