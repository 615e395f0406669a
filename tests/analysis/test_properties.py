"""What holds for any stream of calls, however it is cut and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from analysis.analyse import GUARDS, analyse
from analysis.findings import SessionFindings
from analysis.fingerprint import fingerprint
from analysis.provider_ids import provider_id
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import Answer, CardEvent, Problem, SessionFacts
from tests.support.log_script import FinalAnswer, Log, Prompt, Step, Use, answered
from tests.support.qwen_log import qwen_log
from tests.support.session_log import SessionLog, call

HINTS = {
    "headless": ("attribution_snapshot",),
    "acp": ("file_history_snapshot",),
    "tui": ("attribution_snapshot", "file_history_snapshot"),
}
WITHOUT_GUARD = "0.15.10"
DONE = {
    "execute": {"executed", "failed", "cancelled", "unanswered"},
    "suppress": {"suppressed"},
    "trip": {"dropped", "skipped"},
    "drop": {"dropped", "skipped"},
}
"""Decision -> the outcomes that agree with it."""

CallPosition = tuple[int, int, int]
"""Turn, response, call."""


@dataclass(frozen=True)
class Made:
    """One call of a stream."""

    id: str | None
    args: int
    tool: str
    answer: Answer | None
    starts_response: bool


PLAIN_IDS = ("alpha", "beta", "gamma", "delta")
made_calls = st.builds(
    Made,
    st.sampled_from((*PLAIN_IDS, None)),
    st.integers(0, 2),
    st.sampled_from(("read_file", "glob")),
    st.sampled_from(("tool", "tool", "tool", "duplicate", "cancelled", "interrupted", "loop-skip", None)),
    st.booleans(),
)
streams = st.lists(st.lists(made_calls, min_size=1, max_size=10), min_size=1, max_size=3)
"""A turn each."""
executed_streams = st.lists(
    st.lists(
        st.builds(Made, st.sampled_from(PLAIN_IDS), st.integers(0, 2), st.just("glob"), st.just("tool"), st.booleans()),
        min_size=1,
        max_size=12,
    ),
    min_size=1,
    max_size=3,
)
entry_points = st.sampled_from(sorted(HINTS))
versions = st.sampled_from((WITHOUT_GUARD, "0.21.10", "0.24.4"))


def _responses(turn: Sequence[Made]) -> Iterator[list[Made]]:
    response: list[Made] = []
    for made in turn:
        if made.starts_response and response:
            yield response
            response = []
        response.append(made)
    yield response


def _log(
    stream: Sequence[Sequence[Made]],
    version: str,
    entry_point: str,
    name: Callable[[str], str] = str,
    cut: Callable[[Sequence[Made]], Iterator[list[Made]]] = _responses,
) -> SessionFacts:
    """As a client of that version writes it: one with a guard puts its suffix behind an id that is in the history."""
    log = SessionLog(version=version)
    used: set[str] = set()
    for turn in stream:
        log.prompt()
        for hint in HINTS[entry_point]:
            log.bookkeeping(hint)
        for response in cut(turn):
            recorded = [_recorded(name(made.id), used, version) if made.id is not None else None for made in response]
            log.response(
                *(
                    call(one, {"path": made.args}, tool=made.tool, part=part)
                    for part, (one, made) in enumerate(zip(recorded, response, strict=True))
                )
            )
            for one, made in zip(recorded, response, strict=True):
                if made.answer is not None:
                    quoted = name(made.id) if made.answer == "duplicate" and made.id is not None else None
                    log.answer(one, made.answer, quoted_id=quoted)
            used |= {one for one in recorded if one is not None}
    return log.facts()


def _recorded(raw: str, used: set[str], version: str) -> str:
    if version == WITHOUT_GUARD or raw not in used:
        return raw
    number = 2
    while f"{raw}__qwen_dup_{number}" in used:
        number += 1
    return f"{raw}__qwen_dup_{number}"


def _positions(found: SessionFindings) -> list[CallPosition]:
    return [(row.turn_no, row.response_no, row.call_no) for row in found.calls]


def _decisions(found: SessionFindings, guard: str) -> list[str | None]:
    """One a call; None after the guard's trip."""
    exceptions = {(row.turn_no, row.response_no, row.call_no): row.decision for row in found.decisions if row.guard == guard}
    trips = {row.turn_no: row.response_no for row in found.trips if row.guard == guard}
    return [exceptions.get(at, "execute") if at[1] <= trips.get(at[0], at[1]) else None for at in _positions(found)]


def _first_trips(found: SessionFindings, guard: str) -> dict[int, CallPosition]:
    tripped = [
        (row.turn_no, row.response_no, row.call_no) for row in found.decisions if row.guard == guard and row.decision == "trip"
    ]
    return {at[0]: at for at in reversed(tripped)}


@given(streams, versions, entry_points)
def test_a_guard_that_remembers_less_never_trips_earlier(stream: list[list[Made]], version: str, entry_point: str) -> None:
    """From the one that takes most for a repeat to the one that takes least."""
    found = analyse(_log(stream, version, entry_point))
    for more, less in pairwise(("id-breaker", "any-fingerprint", "fingerprint")):
        earlier, later = _first_trips(found, more), _first_trips(found, less)
        for turn_no, at in later.items():
            assert earlier[turn_no] <= at, f"{less} trips before {more}"
    assert not _first_trips(found, "id-only")
    assert not _first_trips(found, "none")


@given(executed_streams, entry_points)
def test_cutting_a_stream_into_other_responses_moves_no_decision(stream: list[list[Made]], entry_point: str) -> None:
    """Where no id comes twice in one response, the cut decides one thing only: what a trip takes down with it."""
    single = analyse(_log(stream, WITHOUT_GUARD, entry_point, cut=lambda turn: iter([made] for made in turn)))
    batched = analyse(_log(stream, WITHOUT_GUARD, entry_point, cut=_without_repeats))
    assert [row.call_class for row in batched.calls] == [row.call_class for row in single.calls]
    for guard in GUARDS:
        expected = _dropping_whole_responses(_decisions(single, guard.name), _positions(batched))
        assert _decisions(batched, guard.name) == expected


def _without_repeats(turn: Sequence[Made]) -> Iterator[list[Made]]:
    """A response ends where the stream says so, and before an id that it already holds."""
    response: list[Made] = []
    for made in turn:
        if response and (made.starts_response or any(other.id == made.id for other in response)):
            yield response
            response = []
        response.append(made)
    yield response


def _dropping_whole_responses(singly: Sequence[str | None], positions: Sequence[CallPosition]) -> list[str | None]:
    """What decisions on single calls come to where the calls stand in responses: a trip drops the rest of its response."""
    tripped = {at[:2] for at, decision in zip(positions, singly, strict=True) if decision == "trip"}
    return [
        "drop" if at[:2] in tripped and decision != "trip" else decision for at, decision in zip(positions, singly, strict=True)
    ]


file_turns = st.lists(st.tuples(st.sampled_from(PLAIN_IDS), st.integers(0, 2)), min_size=1, max_size=6)


@given(
    st.lists(file_turns, min_size=1, max_size=3),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from(b'\x00"\n{}\xff')), max_size=3),
    st.lists(st.floats(0, 1), max_size=20),
)
def test_chunks_of_a_file_decide_nothing(
    turns: list[list[tuple[str, int]]], damage: list[tuple[float, int]], cuts: list[float]
) -> None:
    """Sound or damaged: the reader gives the same records, so every finding is the same, its evidence included."""
    data = bytearray(_bytes_of(turns))
    for place, byte in damage:
        data[int(place * len(data))] = byte
    edges = sorted({0, len(data), *(round(cut * len(data)) for cut in cuts)})
    chunks = [bytes(data[start:end]) for start, end in pairwise(edges)]
    whole = analyse(_read([bytes(data)]))
    assert analyse(_read(chunks)) == whole
    assert damage or len(whole.calls) == sum(map(len, turns))


def _bytes_of(turns: Sequence[Sequence[tuple[str, int]]]) -> bytes:
    steps: list[Step] = []
    for turn in turns:
        steps.append(Prompt())
        steps += [answered(Use(call_id, {"command": f"make part-{args}"})) for call_id, args in turn]
        steps.append(FinalAnswer())
    return qwen_log("s", Log(tuple(steps)))


def _read(chunks: Sequence[bytes]) -> SessionFacts:
    reader = QwenChatReader("/logs/s.jsonl", fingerprint)
    rows = [*(row for chunk in chunks for row in reader.feed(chunk)), *reader.finish()]
    records = tuple(row for row in rows if not isinstance(row, CardEvent | Problem))
    return SessionFacts(session_id="s", kind="main", parent_session_id=None, client="qwen-code", records=records, events=())


@given(streams, versions, entry_points, st.permutations(PLAIN_IDS))
def test_renaming_the_ids_one_to_one_changes_no_class(
    stream: list[list[Made]], version: str, entry_point: str, others: list[str]
) -> None:
    renamed = dict(zip(PLAIN_IDS, others, strict=True))
    before = analyse(_log(stream, version, entry_point))
    for name in (renamed.__getitem__, "call_{}_x7".format, "functions.sh:{}".format):
        after = analyse(_log(stream, version, entry_point, name))
        assert [row.call_class for row in after.calls] == [row.call_class for row in before.calls]
        assert [row.outcome for row in after.calls] == [row.outcome for row in before.calls]
        for guard in GUARDS:
            assert _decisions(after, guard.name) == _decisions(before, guard.name)


@given(streams, versions, entry_points)
def test_up_to_its_divergence_a_guard_decides_what_was_done(stream: list[list[Made]], version: str, entry_point: str) -> None:
    found = analyse(_log(stream, version, entry_point))
    outcomes = [row.outcome for row in found.calls]
    for guard in GUARDS:
        diverged = {row.turn_no: (row.response_no, row.call_no) for row in found.divergences if row.guard == guard.name}
        for at, decision, outcome in zip(_positions(found), _decisions(found, guard.name), outcomes, strict=True):
            agrees = decision is not None and (decision == "unknown" or outcome in DONE[decision])
            if at[0] not in diverged or at[1:] < diverged[at[0]]:
                assert agrees or decision is None
            elif at[1:] == diverged[at[0]]:
                assert not agrees
                assert decision is not None
        for trip in found.trips:
            if trip.guard == guard.name and trip.basis == "observed":
                assert trip.response_no <= diverged.get(trip.turn_no, (trip.response_no, 0))[0]


suffixes = st.integers(2, 10_000).map("__qwen_dup_{}".format)


@given(st.text(min_size=1) | st.builds(str.__add__, st.text(min_size=1), suffixes), suffixes, st.sets(st.text()))
def test_taking_the_suffix_off_gives_the_id_back(raw: str, suffix: str, used: set[str]) -> None:
    """The last one, and no other: a model can send the client's own suffixed id back (recording f4)."""
    assume(provider_id(raw, set())[0] == raw)  # not one that says there is no id
    assert provider_id(raw + suffix, used | {raw}) == (raw, "recovered")
    assert provider_id(raw + suffix, used - {raw}) == (raw + suffix, "recorded")


@given(streams, versions, entry_points)
def test_healthy_turns_after_it_change_no_turns_verdict(stream: list[list[Made]], version: str, entry_point: str) -> None:
    before = analyse(_log(stream, version, entry_point)).turns
    facts = _log(stream, version, entry_point)
    log = SessionLog(version=version)
    log.records = list(facts.records)
    for _ in range(2):
        log.prompt()
        for hint in HINTS[entry_point]:
            log.bookkeeping(hint)
        log.response(text=True)
    after = analyse(log.facts()).turns
    assert [turn.verdict for turn in after] == [*(turn.verdict for turn in before), "completed", "completed"]
