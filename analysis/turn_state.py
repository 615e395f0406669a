"""One turn with everything known of it, as verdicts, trips and detectors read it."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.history import Batch, BatchCall
from analysis.replay import Outcome, TurnReplay
from analysis.timeline import TimelineResponse, Turn
from ingest.records import AnyRecord, Event, Result


@dataclass(frozen=True, slots=True)
class Verdict:
    verdict: str
    reason: str
    confidence: str
    evidence: tuple[str, ...] = ()
    open_ended: bool = False
    """The log ends in the middle of the turn: while it is fresh, the turn is running."""


@dataclass(slots=True, eq=False)
class JudgedCall:
    batch: Batch
    of_batch: BatchCall
    call_class: str
    class_reason: str | None
    outcome: Outcome
    class_by_call_half: str | None = None

    @property
    def evidence(self) -> str:
        return evidence_of(self.of_batch.call.record)


@dataclass(slots=True, eq=False)
class TurnState:
    turn: Turn
    entry_point: str
    guard_in_force: str
    is_last: bool
    previous: TurnState | None = None
    following: TurnState | None = None
    calls: list[JudgedCall] = field(default_factory=list)
    replays: dict[str, TurnReplay] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    """Telemetry, spans and side files that belong to this turn."""

    @property
    def in_force(self) -> TurnReplay | None:
        return self.replays.get(self.guard_in_force)

    @property
    def in_force_trip_call(self) -> JudgedCall | None:
        """The call on which the guard in force ended the turn, where the log agrees that it did."""
        replay = self.in_force
        if replay is None or replay.trip is None or replay.divergence is not None:
            return None
        fired = replay.trip.call
        return next((call for call in self.calls if call.of_batch is fired), None)

    @property
    def log_events(self) -> list[Event]:
        return [record for record in self.turn.records if isinstance(record, Event)]

    @property
    def prompt_id(self) -> str | None:
        """The client's own prompt id: from the turn's bookkeeping, else as the prompt record has it."""
        named = (event.prompt_id for event in self.log_events if event.prompt_id and _is_of_the_turn(event))
        return next(named, self.turn.prompt.prompt_id if self.turn.prompt else None)

    @property
    def last_item(self) -> TimelineResponse | Result | None:
        """The last part of the conversation; prompts, bookkeeping and compactions are none."""
        items = (item for item in reversed(self.turn.items) if isinstance(item, TimelineResponse | Result))
        return next(items, None)

    @property
    def last_progress(self) -> int | None:
        """When the conversation last moved. Bookkeeping does not count: it goes on beside a tool that hangs."""
        times = [record.ts for record in self.turn.records if record.ts is not None and not isinstance(record, Event)]
        return max(times, default=None)

    @property
    def open_calls(self) -> list[JudgedCall]:
        """The calls of the last response that have no answer."""
        last = self.turn.responses[-1] if self.turn.responses else None
        return [call for call in self.calls if call.batch.response is last and call.of_batch.call.result is None]

    @property
    def last_evidence(self) -> list[str]:
        """The last record that is part of the conversation."""
        records = [record for record in self.turn.records if not isinstance(record, Event)]
        return [evidence_of(records[-1])] if records else []


def _is_of_the_turn(event: Event) -> bool:
    """A daemon's turn_result carries the daemon's own id, and a compaction's request goes by `compress-MS`."""
    is_compaction = (event.prompt_id or "").startswith("compress-")
    return event.name != "turn_result" and not is_compaction and not is_of_sub_agent(event)


def is_of_sub_agent(event: Event) -> bool:
    """A sub-agent's requests stand in its parent's file too, under the prompt id `SESSION#AGENT#ROUND`."""
    prompt_id = event.prompt_id or ""
    return "########" not in prompt_id and prompt_id.count("#") >= 2


def evidence_of(record: AnyRecord) -> str:
    return f"{record.place.source}:{record.place.line}"
