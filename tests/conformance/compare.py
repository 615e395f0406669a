"""What a store says against the truth: outcome, decision, trip and verdict, call by call and turn by turn.

The calls of notification turns count to the user's prompt before them, as in the table; where a user's prompt has
several turns, the pinned verdict is that of its last one and the others have to be `completed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.observed import SeenCall, SeenSession, SeenTurn
from tests.conformance.truth import RecordingTruth, TurnTruth

OUTCOMES = {"ok": "executed", "err": "failed", "dup": "suppressed", "skip": "skipped"}
NO_RESULT = {True: "dropped", False: "unanswered"}
"""For `open`: by whether the guard dropped the batch."""

DONE = {
    "executed": {"execute"},
    "failed": {"execute"},
    "cancelled": {"execute"},
    "unanswered": {"execute"},
    "suppressed": {"suppress"},
    "dropped": {"trip", "drop"},
    "skipped": {"trip", "drop"},
}
"""What the guard in force must decide on a call with this outcome."""

SUB_AGENT_VERDICTS = {"GOAL": "completed", "LOOP_DETECTED": "stopped-visibly"}
"""A sub-agent's stop is never silent: its parent's model is told, and the parent's log has it."""


@dataclass
class Tally:
    agree: int = 0
    of: int = 0

    def __str__(self) -> str:
        return f"{self.agree} of {self.of}"


@dataclass
class Comparison:
    sessions: Tally = field(default_factory=Tally)
    calls: Tally = field(default_factory=Tally)
    decisions: Tally = field(default_factory=Tally)
    trips: Tally = field(default_factory=Tally)
    """Turns that tripped under the guard in force, or did not, as the client did."""
    verdicts: Tally = field(default_factory=Tally)
    entry_points: Tally = field(default_factory=Tally)
    """`unknown` does not agree, but is no disagreement either: the oldest logs hold no hint."""
    loop_events: Tally = field(default_factory=Tally)
    sub_agent_calls: Tally = field(default_factory=Tally)
    sub_agent_verdicts: Tally = field(default_factory=Tally)
    disagreements: list[str] = field(default_factory=list)

    def note(self, tally: Tally, agrees: bool, disagreement: str | None) -> None:
        tally.of += 1
        tally.agree += agrees
        if not agrees and disagreement is not None:
            self.disagreements.append(disagreement)

    def lines(self) -> list[str]:
        tallies = {name: value for name, value in vars(self).items() if isinstance(value, Tally)}
        return [f"{name.replace('_', ' ')}: {tally} agree" for name, tally in tallies.items()] + self.disagreements


def compare(seen: Mapping[str, SeenSession], recordings: Path, truths: Iterable[RecordingTruth]) -> Comparison:
    """`recordings` holds the folders that the truths name."""
    comparison = Comparison()
    for truth in truths:
        chats = [seen[one] for one in sorted(session_ids(recordings / truth.name)) if one in seen]
        before = len(comparison.disagreements)
        if len(chats) == 1:
            _compare_session(comparison, truth, chats[0])
            children = [one for one in seen.values() if one.parent_session_id == chats[0].session_id]
            _compare_sub_agents(comparison, recordings / truth.name, truth, children)
        else:
            comparison.disagreements.append(f"{truth.name}: {len(chats)} sessions, not 1")
        comparison.note(comparison.sessions, len(comparison.disagreements) == before, None)
    return comparison


def session_ids(recording: Path) -> set[str]:
    """A chat log is named by its session's id; the files with a second dot beside it are no logs."""
    return {log.stem for log in recording.glob("qwen-home/projects/*/chats/*.jsonl") if "." not in log.stem}


def _compare_session(comparison: Comparison, truth: RecordingTruth, session: SeenSession) -> None:
    comparison.note(
        comparison.entry_points,
        session.entry_point == truth.entry_point,
        f"{truth.name}: entry point {session.entry_point}" if session.entry_point != "unknown" else None,
    )
    prompts = _by_user_prompt(session.turns)
    if len(prompts) != len(truth.turns):
        comparison.disagreements.append(f"{truth.name}: {len(prompts)} user prompts, not {len(truth.turns)}")
    for position, turn in enumerate(truth.turns):
        seen = prompts[position] if position < len(prompts) else []
        _compare_turn(comparison, f"{truth.name} prompt {position + 1}", turn, seen)
    if not truth.name.endswith(".otlp"):  # its events went to a collector, not to the outfile behind the table
        tripped = any(turn.tripped for turn in truth.turns)
        expected = [(loop_type, tripped) for loop_type in truth.loop_events]
        comparison.note(
            comparison.loop_events,
            session.loop_events == expected,
            f"{truth.name}: loop events (type, is the guard's trip) {session.loop_events}, not {expected}",
        )


def _by_user_prompt(turns: Sequence[SeenTurn]) -> list[list[SeenTurn]]:
    prompts: list[list[SeenTurn]] = []
    for turn in turns:
        if turn.origin == "user" or not prompts:
            prompts.append([])
        prompts[-1].append(turn)
    return prompts


def _compare_turn(comparison: Comparison, at: str, truth: TurnTruth, seen: Sequence[SeenTurn]) -> None:
    batches = [batch for turn in seen for batch in turn.batches]
    if [len(batch) for batch in batches] != [len(batch) for batch in truth.batches]:
        comparison.disagreements.append(f"{at}: other calls than {truth.batches}: {batches}")
    for response_no, tokens in enumerate(truth.batches, 1):
        batch = batches[response_no - 1] if response_no <= len(batches) else []
        for call_no, token in enumerate(tokens, 1):
            call = batch[call_no - 1] if call_no <= len(batch) else SeenCall("missing", "missing")
            _compare_call(comparison, f"{at} response {response_no} call {call_no}", token, truth.tripped, call)
    trips = sum(turn.trips for turn in seen)
    comparison.note(comparison.trips, trips == truth.tripped, f"{at}: {trips} trips, not {int(truth.tripped)}")
    if truth.verdict is not None:
        verdicts = [turn.verdict for turn in seen]
        pinned = ["completed"] * (len(seen) - 1) + [truth.verdict]
        comparison.note(comparison.verdicts, verdicts == pinned, f"{at}: verdict {verdicts}, not {pinned}")


def _compare_call(comparison: Comparison, at: str, token: str, tripped: bool, call: SeenCall) -> None:
    outcome = OUTCOMES.get(token) or NO_RESULT[tripped]
    comparison.note(comparison.calls, call.outcome == outcome, f"{at}: {call.outcome}, not {outcome}")
    comparison.note(
        comparison.decisions,
        call.decision in DONE[outcome],
        f"{at}: the guard in force decides {call.decision}, the client's did {'/'.join(sorted(DONE[outcome]))}",
    )


def _compare_sub_agents(
    comparison: Comparison, recording: Path, truth: RecordingTruth, children: Sequence[SeenSession]
) -> None:
    """The table has a sub-agent's end but not its calls: those are held against what its own log says was done."""
    logs = list(recording.glob("qwen-home/projects/*/subagents/*/*.jsonl"))  # older clients wrote none
    if len(children) != len(logs):
        comparison.disagreements.append(f"{truth.name}: {len(children)} sub-agents, not {len(logs)}")
    for child, end in zip(children, truth.sub_agents, strict=False):
        verdict = SUB_AGENT_VERDICTS[end]
        comparison.note(
            comparison.sub_agent_verdicts,
            child.verdict == verdict,
            f"{truth.name} {child.session_id}: verdict {child.verdict}, not {verdict}",
        )
        for response_no, batch in enumerate((batch for turn in child.turns for batch in turn.batches), 1):
            for call_no, call in enumerate(batch, 1):
                comparison.note(
                    comparison.sub_agent_calls,
                    call.decision in DONE.get(call.outcome, ()),
                    f"{truth.name} {child.session_id} response {response_no} call {call_no}: "
                    f"the guard in force decides {call.decision}, it was {call.outcome}",
                )
