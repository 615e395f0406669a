"""The rows of a judged session: what `analysis/findings.py` declares, filled in from turns, responses and calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from msgspec.structs import replace

from analysis.client_facts import EntryPoints, turn_version
from analysis.ending import Ending
from analysis.findings import CallRow, DeadCallRow, OddCopyRow, OrphanRow, ResponseRow, SessionRow, TurnRow
from analysis.history import DAEMONS
from analysis.timeline import TimelineResponse
from analysis.turn_state import JudgedCall, TurnState, Verdict
from ingest.records import AnyRecord, Response, SessionFacts

_T = TypeVar("_T")


def session_row(
    facts: SessionFacts, live: Sequence[AnyRecord], states: Sequence[TurnState], entry_points: EntryPoints
) -> SessionRow:
    own = [record for record in live if record.forked_from is None]
    is_fork = len(own) < len(live)
    forked_from = next(record.forked_from for record in live if record.forked_from is not None) if is_fork else None
    started_at, ended_at = _span(own)
    last = states[-1]
    return SessionRow(
        session_id=facts.session_id,
        kind=facts.kind,
        parent_session_id=facts.parent_session_id,
        forked_from=forked_from,
        client=facts.client,
        client_version=turn_version(last.turn),
        entry_point=last.entry_point,
        entry_point_confidence=entry_points.of_turns[-1][1],
        guard_in_force=last.guard_in_force,
        cwd=next((record.cwd for record in live if record.cwd is not None), None),
        started_at=started_at,
        ended_at=ended_at,
    )


def turn_row(session_id: str, state: TurnState, ending: Ending) -> TurnRow:
    verdict = ending.verdict
    started_at, ended_at = _span(state.turn.records)
    return TurnRow(
        session_id=session_id,
        turn_no=state.turn.no,
        prompt_id=state.prompt_id,
        origin=state.turn.prompt.origin if state.turn.prompt else "unknown",
        started_at=started_at,
        ended_at=ended_at,
        model=model_of(state),
        client_version=turn_version(state.turn),
        entry_point=state.entry_point,
        guard_in_force=state.guard_in_force,
        responses=len(state.turn.responses),
        calls=len(state.calls),
        verdict=verdict.verdict,
        reason=verdict.reason,
        confidence=verdict.confidence,
        evidence=list(verdict.evidence),
        open_ended=verdict.open_ended,
        progressed_at=state.last_progress,
        stale_at=ending.stale_at,
        rests_on_a_limit=ending.rests_on_a_limit,
        context_kept=context_kept(state, verdict),
        inherited=state.turn.inherited,
    )


def orphan_rows(session_id: str, state: TurnState) -> Iterator[OrphanRow]:
    for result in state.turn.orphan_results:
        yield OrphanRow(
            session_id=session_id,
            turn_no=state.turn.no,
            recorded_id=result.recorded_id,
            source_path=result.place.source,
            byte_offset=result.place.offset,
            line=result.place.line,
        )


def _span(records: Sequence[AnyRecord]) -> tuple[int | None, int | None]:
    """From the first record to the last, not from the earliest time to the latest: a clock that was set in between, and set
    back, would make hours of a minute."""
    if records and (first := records[0].ts) is not None and (last := records[-1].ts) is not None and first <= last:
        return first, last
    times = [record.ts for record in records if record.ts is not None]
    if not times or times[-1] < times[0]:
        return min(times, default=None), max(times, default=None)
    return times[0], times[-1]


def odd_copy_rows(facts: SessionFacts) -> Iterator[OddCopyRow]:
    for kind, places in (("divergent-copy", facts.divergent_copies), ("differing-record", facts.differing_copies)):
        for place in places:
            yield OddCopyRow(
                session_id=facts.session_id,
                kind=kind,
                source_path=place.source,
                byte_offset=place.offset,
                line=place.line,
            )


def model_of(state: TurnState) -> str | None:
    """The model of the turn's last response; a sub-agent's log names none, its meta file does."""
    by_response = (record.model for response in reversed(state.turn.responses) for record in response.records)
    return _first(by_response) or _first(event.model for event in chain(state.log_events, state.events))


def context_kept(state: TurnState, verdict: Verdict) -> bool | None:
    """Whether the model was told that the daemon had stopped this turn: by the text of the next turn's first request.

    The note goes out with the next prompt and stands in no log (QWEN_CODE.md 5); only telemetry that keeps request texts shows
    it. None where the turn was not stopped so, or no request text was kept.
    """
    following = state.following
    if verdict.verdict != "stopped-visibly" or state.entry_point not in DAEMONS or following is None:
        return None
    requests = (event for event in following.events if event.name == "api_request" and "loop_note" in event.attributes)
    first = min(requests, key=lambda event: event.ts or 0, default=None)
    return None if first is None else first.attributes["loop_note"] == "true"


def response_row(session_id: str, turn: TurnRow, response: TimelineResponse) -> ResponseRow:
    told = _told(response)
    return ResponseRow(
        session_id=session_id,
        turn_no=turn.turn_no,
        response_no=response.no,
        ts=told.ts,
        model=told.model or turn.model,
        provider=told.provider,
        tokens_in=told.tokens_in,
        tokens_out=told.tokens_out,
        tokens_cached=told.tokens_cached,
        stop_reason=told.stop_reason,
        calls=len(response.calls),
        has_text=response.has_text,
    )


def _told(response: TimelineResponse) -> Response:
    """Of a response told in several records, of each value the first that says it."""
    first, *others = response.records
    if not others:
        return first
    names = ("model", "provider", "tokens_in", "tokens_out", "tokens_cached", "stop_reason")
    return replace(first, **{name: _first(getattr(record, name) for record in response.records) for name in names})


def call_row(session_id: str, turn: TurnRow, judged: JudgedCall) -> CallRow:
    """By position, in the order in which CallRow declares them: by name it took a tenth of the whole analysis."""
    of_batch = judged.of_batch
    told = of_batch.call
    call, record, result = told.call, told.record, told.result
    return CallRow(
        session_id,
        turn.turn_no,
        judged.batch.response.no,
        told.no,
        call.tool,
        of_batch.id_source,
        judged.call_class,
        judged.outcome,
        call.args_json,
        call.args_bytes,
        told.args_state,
        call.part,
        record.place.source,
        record.place.line,
        record.ts,
        record.model or turn.model,
        call.recorded_id,
        of_batch.provider_id,
        of_batch.fingerprint,
        judged.class_reason,
        judged.class_by_call_half,
        result.status if result else None,
        result.error_class if result else None,
        result.digest if result else None,
        result.duration_ms if result else None,
        record.uuid,
        record.forked_from is not None,
    )


def dead_call_rows(session_id: str, dead: Iterable[AnyRecord]) -> Iterator[DeadCallRow]:
    for record in dead:
        if isinstance(record, Response):
            for call in record.calls:
                yield DeadCallRow(
                    session_id=session_id,
                    ts=record.ts,
                    model=record.model,
                    tool=call.tool,
                    recorded_id=call.recorded_id,
                    fingerprint=call.fingerprint,
                    args_json=call.args_json,
                    args_bytes=call.args_bytes,
                    source_path=record.place.source,
                    source_line=record.place.line,
                )


def _first(values: Iterable[_T | None]) -> _T | None:
    return next((value for value in values if value is not None), None)
