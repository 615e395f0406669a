"""One turn with everything known of it, as verdicts, trips and detectors read it."""

from __future__ import annotations

from collections.abc import Sequence, Set

from msgspec import Struct

from analysis.history import Batch, BatchCall
from analysis.replay import Decided, Outcome, TurnReplay
from analysis.timeline import TimelineResponse, Turn
from ingest.records import AnyRecord, Event, Result


class Verdict(Struct, frozen=True):
    verdict: str
    reason: str
    confidence: str
    evidence: tuple[str, ...] = ()
    open_ended: bool = False
    """The log ends in the middle of the turn: while it is fresh, the turn is running."""


class JudgedCall(Struct, eq=False, gc=False):
    batch: Batch
    of_batch: BatchCall
    call_class: str
    class_reason: str | None
    outcome: Outcome
    class_by_call_half: str | None = None

    @property
    def evidence(self) -> str:
        return evidence_of(self.of_batch.call.record)


class TurnState(Struct, eq=False):
    turn: Turn
    entry_point: str
    guard_in_force: str
    is_last: bool
    other_model: str | None = None
    """Of the turns before it the last one's model that is another than its own."""
    following: TurnState | None = None
    """None of them knows the one before it: states that know each other are freed by a search for cycles alone."""
    calls: Sequence[JudgedCall] = ()
    classes: Set[str] = frozenset()
    outcomes: Set[str] = frozenset()
    """What calls there are."""
    open_calls: Sequence[JudgedCall] = ()
    """The calls of the last response that have no answer."""
    replays: dict[str, TurnReplay] = {}
    """Of the guards that were asked. The others run every call of the turn, and rightly so: `decided_by` tells of all."""
    events: list[Event] = []
    """Telemetry, spans and side files that belong to this turn."""
    prompt_id: str | None = None
    """The client's own prompt id: from the turn's bookkeeping, else as the prompt record has it."""
    last_progress: int | None = None
    """When the conversation last moved. Bookkeeping does not count: it goes on beside a tool that hangs."""

    def __post_init__(self) -> None:
        self.prompt_id = _prompt_id(self.turn)
        self.last_progress = max([record.ts for record in self.turn.conversation if record.ts is not None], default=None)

    def take_calls(self, calls: Sequence[JudgedCall]) -> None:
        self.calls = calls
        self.classes = {call.call_class for call in calls}
        self.outcomes = {call.outcome for call in calls}
        if self.turn.responses and (in_last := len(self.turn.responses[-1].calls)):
            self.open_calls = [call for call in calls[-in_last:] if call.of_batch.call.result is None]

    def decided_by(self, guard: str) -> Decided:
        return self.replays.get(guard) or Decided()

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
        return self.turn.log_events

    @property
    def last_item(self) -> TimelineResponse | Result | None:
        return self.turn.last_item

    @property
    def last_evidence(self) -> list[str]:
        """The last record that is part of the conversation."""
        return [evidence_of(self.turn.conversation[-1])] if self.turn.conversation else []


def _prompt_id(turn: Turn) -> str | None:
    for event in turn.log_events:
        if event.prompt_id and _is_of_the_turn(event):
            return event.prompt_id
    return turn.prompt.prompt_id if turn.prompt else None


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
