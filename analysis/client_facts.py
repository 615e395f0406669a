"""Which guard was in force and through which entry point the client ran: facts of Qwen Code, per turn.

The log names neither. The guard follows from the version (0.5.2 to 0.15.10 ran without, 0.21.2 and 0.21.10 with the id alone,
0.23.0 and 0.24.4 with the fingerprint; between those known it could be either, so it is unknown there) unless a synthetic
answer's own text tells. The entry point follows from the bookkeeping records that each writes (QWEN_CODE.md 6, held in every
file of 0.21.2, 0.21.10 and 0.24.4); telemetry overrules them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from analysis.timeline import Turn
from ingest.records import Event, Result

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_LAST_WITHOUT_GUARD = (0, 15, 10)
_FIRST_BY_ID, _LAST_BY_ID = (0, 21, 2), (0, 21, 10)
_FIRST_BY_FINGERPRINT = (0, 23, 0)
_FIRST_WITH_ATTRIBUTION = (0, 15, 10)
CLIENTS_WITH_A_GUARD = frozenset(("qwen-code",))


@lru_cache(maxsize=64)
def version_of(text: str | None) -> tuple[int, int, int] | None:
    found = _VERSION.match(text or "")
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def guard_by_version(client: str, version: str | None) -> str:
    if client not in CLIENTS_WITH_A_GUARD:
        return "none"
    numbers = version_of(version)
    if numbers is None:
        return "unknown"
    if numbers <= _LAST_WITHOUT_GUARD:
        return "none"
    if _FIRST_BY_ID <= numbers <= _LAST_BY_ID:
        return "id-breaker"
    return "fingerprint" if numbers >= _FIRST_BY_FINGERPRINT else "unknown"


def turn_version(turn: Turn) -> str | None:
    for record in turn.records:
        if record.version is not None:
            return record.version
    return None


def guards_in_force(client: str, turns: Sequence[Turn]) -> list[str]:
    """One guard a turn. A text that gives a guard away speaks for every turn of the same version."""
    told: dict[str | None, str] = {}
    for turn in turns:
        for result in turn.results:
            if hint := _guard_told_by(result):
                told.setdefault(result.version, hint)
    versions = [turn_version(turn) for turn in turns]
    return [told.get(version) or guard_by_version(client, version) for version in versions]


def _guard_told_by(result: Result) -> str | None:
    return "fingerprint" if result.answer == "loop-skip" else result.guard_hint


class EntryPoints:
    """The entry point of each turn and how sure it is; a turn without a hint of its own is taken as the one before it."""

    def __init__(self, kind: str, turns: Sequence[Turn], events: Iterable[Event]) -> None:
        self._names = {event.name for event in events}
        self._message_types = {
            event.attributes.get("message_type") for event in events if event.channel == "span" and event.name == "interaction"
        }
        self._on_wire = any(event.channel == "wire" for event in events)
        self._is_served = "ledger" in self._names or any(_is_of_serve(turn) for turn in turns)
        if kind == "sub-agent":
            self.of_turns = [("sub-agent", "certain")] * len(turns)
        else:
            self.of_turns = _spread([self._of(turn) for turn in turns])

    def _of(self, turn: Turn) -> tuple[str, str] | None:
        names = turn.event_names
        headless_hint = "attribution_snapshot" in names
        daemon_hint = "file_history_snapshot" in names
        daemon = "serve" if self._is_served else "acp"
        if _is_of_serve(turn) or "branch_checkpoint" in names:
            return daemon, "certain"
        if ("acp_prompt" in self._message_types or self._on_wire) and not headless_hint:
            return daemon, "certain"
        if headless_hint and daemon_hint:
            return "tui", "certain"
        if daemon_hint:
            return daemon, "certain"
        if headless_hint:
            return "headless", "certain" if (version_of(turn_version(turn)) or (0,)) >= _FIRST_BY_ID else "probable"
        return self._without_hint(turn, daemon)

    def _without_hint(self, turn: Turn, daemon: str) -> tuple[str, str] | None:
        numbers = version_of(turn_version(turn))
        starts_by_person = turn.prompt is not None and turn.prompt.origin == "user"
        if numbers is None or not starts_by_person or not _FIRST_WITH_ATTRIBUTION <= numbers < _FIRST_BY_ID:
            return None
        return daemon, "probable"


def _is_of_serve(turn: Turn) -> bool:
    by_daemon = turn.prompt is not None and turn.prompt.prompt_id is not None
    return by_daemon or "turn_result" in turn.event_names


def _spread(hints: Sequence[tuple[str, str] | None]) -> list[tuple[str, str]]:
    known = next((hint for hint in hints if hint is not None), ("unknown", "unknown"))
    spread: list[tuple[str, str]] = []
    for hint in hints:
        known = hint or (known[0], "probable" if known[0] != "unknown" else "unknown")
        spread.append(known)
    return spread
