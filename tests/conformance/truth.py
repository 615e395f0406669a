"""What the client really did in each recording: from the table of an EXPECTED.md, or from data/expected.json.

The table was made from the runs themselves (wire logs, exit codes, the provider's side), not from the chat logs
alone, so it can contradict a reading of the logs. A row: scenario, version, calls, end, telemetry. In `calls` the
responses stand in order, `+` joins parallel calls, `|` starts a new user prompt, `<...>` is a remark. The JSON holds
rows of the same table, with the verdicts that the rules above it pin spelled out. Responses without calls are in
neither, nor calls of sub-agents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKENS = frozenset({"ok", "err", "dup", "skip", "open"})

NOT_PINNED = frozenset({"g", "g2", "g3", "g4", "c", "c2"})
"""Scenarios (before the first `_`) whose verdict the table leaves to the evidence."""


@dataclass(frozen=True)
class TurnTruth:
    batches: tuple[tuple[str, ...], ...]
    verdict: str | None
    """None where the table pins none."""
    tripped: bool
    """The guard dropped the last batch and ended the turn."""


@dataclass(frozen=True)
class RecordingTruth:
    name: str
    """VERSION/SCENARIO, the folder below the recordings."""
    entry_point: str
    turns: tuple[TurnTruth, ...]
    sub_agents: tuple[str, ...]
    """How each sub-agent ended, in the client's word (GOAL, LOOP_DETECTED)."""
    loop_events: tuple[str, ...]
    """The loop types of the `loop_detected` events in its outfile, in order."""


def read_truth(source: Path) -> Iterator[RecordingTruth]:
    text = source.read_text("utf-8")
    if source.suffix == ".json":
        for name, recording in json.loads(text)["recordings"].items():
            yield _of_json(name, recording)
    else:
        for line in text.splitlines():
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)][1:-1]
            if len(cells) == 5 and re.fullmatch(r"[0-9.]+", cells[1]):
                yield _of_row(*cells)


def _of_json(name: str, recording: dict[str, Any]) -> RecordingTruth:
    turns = [tuple(tuple(batch) for batch in turn["responses"]) for turn in recording["turns"]]
    _check_tokens(name, turns)
    return RecordingTruth(
        name=name,
        entry_point=recording["entry_point"],
        turns=tuple(
            TurnTruth(batches, turn["verdict"], _is_tripped(batches, killed))
            for batches, turn, killed in zip(turns, recording["turns"], _kills(recording["end"], len(turns)), strict=True)
        ),
        sub_agents=tuple(recording.get("sub_agents", ())),
        loop_events=tuple(recording.get("loop_events", ())),
    )


def _of_row(scenario: str, version: str, calls: str, end: str, telemetry: str) -> RecordingTruth:
    name = f"{version}/{scenario}"
    turns = [tuple(tuple(batch.split("+")) for batch in turn.split()) for turn in re.sub(r"<[^>]*>", "", calls).split("|")]
    _check_tokens(name, turns)
    return RecordingTruth(
        name=name,
        entry_point=_entry_point(scenario),
        turns=tuple(
            TurnTruth(batches, _verdict(scenario, version, telemetry, batches, killed), _is_tripped(batches, killed))
            for batches, killed in zip(turns, _kills(end.split(","), len(turns)), strict=True)
        ),
        sub_agents=tuple(re.findall(r"sub:(\S+)", telemetry)),
        loop_events=tuple(re.findall(r"evt:(\S+)", telemetry)),
    )


def _check_tokens(name: str, turns: list[tuple[tuple[str, ...], ...]]) -> None:
    unknown = {token for turn in turns for batch in turn for token in batch} - TOKENS
    if unknown:
        raise ValueError(f"{name}: unknown outcome {', '.join(sorted(unknown))}")


def _entry_point(scenario: str) -> str:
    variant = scenario.partition(".")[2]
    return variant if variant in {"acp", "tui", "serve"} else "headless"


def _kills(ends: list[str], turns: int) -> list[bool]:
    """Each process end belongs to the turn of its number; a lone end is that of the last turn."""
    if len(ends) < turns:
        ends = [""] * (turns - len(ends)) + ends
    return [end == "KILL" for end in ends[:turns]]


def _is_tripped(batches: tuple[tuple[str, ...], ...], killed: bool) -> bool:
    last = batches[-1] if batches else ()
    answered_before = any("dup" in batch for batch in batches[:-1])
    return "skip" in last or ("open" in last and answered_before and not killed)


def _verdict(scenario: str, version: str, telemetry: str, batches: tuple[tuple[str, ...], ...], killed: bool) -> str | None:
    """The rules above the table, in their order."""
    if _is_tripped(batches, killed):
        told = "skip" in batches[-1] or _entry_point(scenario) not in {"acp", "serve"}
        return "stopped-visibly" if told else "silent-hang"
    if killed:
        return "truncated"
    if _is_stopped_by_loop_detector(scenario, version, telemetry):
        return "stopped-visibly"
    if scenario.startswith("g8_"):
        return "provider-error"
    return None if scenario.split("_")[0] in NOT_PINNED else "completed"


def _is_stopped_by_loop_detector(scenario: str, version: str, telemetry: str) -> bool:
    """Told by the client's own event; a run that sent its telemetry elsewhere (`.otlp`) has none in the table."""
    has_detector = tuple(map(int, version.split("."))) >= (0, 21)
    by_event = re.search(r"evt:(?!global_tool_call_duplicate)", telemetry) is not None
    return by_event or (scenario == "i_identical_unique_ids.otlp" and has_detector)
