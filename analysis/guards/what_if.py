"""Built-in guards with other settings: `fingerprint:threshold=2,scope=session` needs no code.

    GUARD[:KEY=VALUE,...]

threshold   synthetic answers to an id before its next repeat ends the turn; `off`: never
scope       which calls count as handled: entry-point (as the client), headless, tui, daemon, turn, session
clears      when answered ids are forgotten: entry-point (as the client), prompt, user-prompt, never
compare     what makes a repeat: id, first (the id's first call), any (any call under the id)
canonical   on, or off: the tool's name and the arguments' JSON as logged, keys unsorted, old tool names kept
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from analysis.guards.any_fingerprint import AnyFingerprint
from analysis.guards.arguments import ArgumentsUnknown, Source, logged_arguments
from analysis.guards.base import RepeatGuard
from analysis.guards.contender import CLEARS, Contender, World
from analysis.guards.fingerprint import Fingerprint
from analysis.guards.id_only import IdOnly
from analysis.history import SCOPES, BatchCall, Handled
from analysis.model_history import PastCall
from ingest.records import HistoryEntry

_COMPARES: Mapping[str, Callable[..., RepeatGuard]] = {"id": IdOnly, "first": Fingerprint, "any": AnyFingerprint}


class BadSettings(ValueError):
    """The text says which and what would do."""


@dataclass(frozen=True)
class _Settings:
    compare: str
    trips_after: int | None
    canonical: bool = True
    world: Mapping[str, Any] = field(default_factory=dict)


class AsLogged(RepeatGuard, frozen=True, kw_only=True):
    """The fingerprint rule without canonicalisation. Only calls of one fingerprint can be equal so, so only they are read."""

    source: Source
    compares_with_any: bool

    def repeats(self, call: BatchCall, handled: Handled) -> bool | None:
        if call.provider_id is None or not handled.has_call(call.provider_id):
            return False
        undecided = False
        for other in self._comparable(call, handled, call.provider_id):
            equal = self._equal(call.call, other)
            if equal:
                return True
            undecided = undecided or equal is None
        return None if undecided else False

    def _comparable(self, call: BatchCall, handled: Handled, provider: str) -> Iterable[PastCall]:
        """Of the calls that count, those that may be equal: of the same fingerprint, or of one that nobody knows."""
        if not self.compares_with_any:
            first = handled.first_call(provider)
            return [first] if first is not None else []
        if call.fingerprint is None:
            return handled.first_of_each(provider)
        return chain(handled.with_fingerprint(provider, call.fingerprint), handled.with_fingerprint(provider, None))

    def _equal(self, call: PastCall, other: PastCall) -> bool | None:
        if call.fingerprint is None or other.fingerprint is None:
            return None
        if call.fingerprint != other.fingerprint:
            return False
        try:
            return self._text(call) == self._text(other)
        except ArgumentsUnknown:
            return None

    def _text(self, call: PastCall) -> tuple[str | None, bytes]:
        return tool_of(call), logged_arguments(call, self.source)


def tool_of(call: PastCall) -> str | None:
    return call.tool if isinstance(call, HistoryEntry) else call.call.tool


def what_if(name: str, text: str, stock: Mapping[str, RepeatGuard], source: Source) -> Contender:
    """text: `GUARD:KEY=VALUE,...`, GUARD one of `stock`. Raises BadSettings."""
    base_name, _, rest = text.partition(":")
    base = stock[base_name]
    settings = _read(base, _pairs(rest))
    about = f"{base_name} with {rest}" if rest else f"as {base_name}"
    guard: RepeatGuard
    if settings.canonical:
        guard = _COMPARES[settings.compare](name=name, about=about, trips_after=settings.trips_after)
    elif settings.compare == "id":
        raise BadSettings("canonical=off needs compare=first or compare=any: an id has no arguments")
    else:
        guard = AsLogged(
            name=name,
            about=about,
            trips_after=settings.trips_after,
            source=source,
            compares_with_any=settings.compare == "any",
        )
    return Contender(guard, f"what-if: {text}", World(**settings.world), rests_on="ids")


def _pairs(rest: str) -> Iterable[tuple[str, str]]:
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise BadSettings(f"{part!r} is no setting: write KEY=VALUE")
        yield key.strip(), value.strip()


def _read(base: RepeatGuard, pairs: Iterable[tuple[str, str]]) -> _Settings:
    compare = next(compare for compare, kind in _COMPARES.items() if isinstance(base, kind))  # type: ignore[arg-type]
    settings: dict[str, Any] = {"compare": compare, "trips_after": base.trips_after, "canonical": True}
    world: dict[str, str] = {}
    for key, value in pairs:
        match key:
            case "threshold":
                settings["trips_after"] = None if value == "off" else _count(value)
            case "compare":
                settings["compare"] = _one_of(key, value, tuple(_COMPARES))
            case "canonical":
                settings["canonical"] = _one_of(key, value, ("on", "off")) == "on"
            case "scope":
                world["scope"] = _one_of(key, value, SCOPES)
            case "clears":
                world["clears"] = _one_of(key, value, CLEARS)
            case _:
                raise BadSettings(f"there is no setting {key!r}: it is threshold, scope, clears, compare or canonical")
    return _Settings(**settings, world=world)


def _count(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise BadSettings(f"threshold={value}: a whole number from 1, or off")
    return int(value)


def _one_of(key: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise BadSettings(f"{key}={value}: one of {', '.join(known)}")
    return value
