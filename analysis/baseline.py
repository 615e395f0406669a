"""A baseline: what two guards decided on each call when somebody looked and accepted it, as a file for a repository.

A call is known by content: its session and its record's id, which a copied or moved log keeps, not by path or number. Only what
is not plainly run by both is written down, with each session's number of calls, so that the file stays small and its changes
readable. Held against later, every difference has a reason, and most reasons are harmless: a guard's change is the last one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

FORMAT = "loopscope-guard-baseline"
FORMAT_VERSION = 1

NOT_THERE = "not there"
NEW_LOG = "new log"
GROWN = "the log has grown"
GONE = "log gone, or left out by a filter"
CALL_GONE = "the call is on no live branch any more, or was read otherwise"
READ_OTHERWISE = "its arguments are read otherwise now"
OTHER_ANALYSIS = "another version of the analysis"
OTHER_HISTORY = "what was done before it in its turn is read otherwise now"
GUARD = "a guard decides otherwise"
DOUBTFUL = frozenset((READ_OTHERWISE, OTHER_ANALYSIS, OTHER_HISTORY))
"""Reasons beside which a guard may have changed too or not: no finding, and no pass either."""


class BaselineCall(Struct):
    call: str
    """SESSION:turn.response.call when it was written, for the eye."""
    base: str
    candidate: str
    basis: str
    call_class: str
    fingerprint: str | None


class Baseline(Struct, kw_only=True):
    format: str = FORMAT
    format_version: int = FORMAT_VERSION
    base: str
    candidate: str
    analysis_version: int
    sessions: dict[str, int]
    """Calls of each."""
    calls: dict[str, BaselineCall]


class BadBaseline(ValueError):
    """The text says what is wrong with the file."""


@dataclass(frozen=True)
class Moved:
    """A call that is not as the baseline has it."""

    call: str
    was: str
    now: str
    why: str
    changes: tuple[str, ...]
    """What a gate counts, as of now: facts alone."""


_decode = msgspec.json.Decoder(Baseline).decode
_PLAIN = ("execute", "execute", "observed")


def make_baseline(rows: Iterable[Mapping[str, Any]], base: str, candidate: str, analysis_version: int) -> Baseline:
    """rows: of `guard_diff_calls.sql`."""
    baseline = Baseline(base=base, candidate=candidate, analysis_version=analysis_version, sessions={}, calls={})
    for row in rows:
        session_id = str(row["session_id"])
        baseline.sessions[session_id] = baseline.sessions.get(session_id, 0) + 1
        call = _call(row)
        if (call.base, call.candidate, call.basis) != _PLAIN:
            baseline.calls[_key(row)] = call
    return baseline


def held_against(baseline: Baseline, rows: Sequence[Mapping[str, Any]], analysis_version: int) -> list[Moved]:
    """Where the calls of now differ from the baseline, in their order, then those that are gone."""
    moved: list[Moved] = []
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[str(row["session_id"])] = sizes.get(str(row["session_id"]), 0) + 1
    seen: dict[str, int] = {}
    left = dict(baseline.calls)
    other_analysis = analysis_version != baseline.analysis_version
    for row in rows:
        session_id = str(row["session_id"])
        seen[session_id] = seen.get(session_id, 0) + 1
        now, was = _call(row), left.pop(_key(row), None)
        known = baseline.sessions.get(session_id)
        is_new = known is None or seen[session_id] > known
        if _same(was, now):
            continue
        if is_new:
            why = NEW_LOG if known is None else GROWN
        else:
            why = _why(was, now, other_analysis, has_grown=sizes[session_id] != known)
        facts = tuple(row["changes"]) if now.basis == "observed" else ()
        moved.append(Moved(now.call, NOT_THERE if is_new else _words(was), _words(now), why, facts))
    moved += [
        Moved(was.call, _words(was), NOT_THERE, CALL_GONE if was.call.rpartition(":")[0] in sizes else GONE, ())
        for was in left.values()
    ]
    return moved


def counted(moved: Iterable[Moved]) -> tuple[dict[str, int], dict[str, int]]:
    """The changes that are found, and those that are in doubt, each by its calls."""
    found: Counter[str] = Counter()
    doubtful: Counter[str] = Counter()
    for one in moved:
        (doubtful if one.why in DOUBTFUL else found).update(one.changes)
    return found, doubtful


def share_still_there(baseline: Baseline, moved: Iterable[Moved]) -> float:
    """Percent of the baseline's calls."""
    gone = sum(one.now == NOT_THERE for one in moved)
    return 100 * (1 - gone / len(baseline.calls)) if baseline.calls else 100.0


def _why(was: BaselineCall | None, now: BaselineCall, other_analysis: bool, *, has_grown: bool) -> str:
    if was is not None and was.fingerprint != now.fingerprint:
        return READ_OTHERWISE
    if other_analysis:
        return OTHER_ANALYSIS
    if has_grown and was is not None and was.basis != now.basis:
        return GROWN
    if was is not None and (was.base, was.candidate) == (now.base, now.candidate):
        return OTHER_HISTORY
    return GUARD


def _same(was: BaselineCall | None, now: BaselineCall) -> bool:
    before = _PLAIN if was is None else (was.base, was.candidate, was.basis)
    return before == (now.base, now.candidate, now.basis)


def _words(call: BaselineCall | None) -> str:
    base, candidate, basis = _PLAIN if call is None else (call.base, call.candidate, call.basis)
    return f"{base} -> {candidate}" + ("" if basis == "observed" else f" ({basis})")


def _call(row: Mapping[str, Any]) -> BaselineCall:
    return BaselineCall(
        call=f"{row['session_id']}:{row['place']}",
        base=row["base_decision"],
        candidate=row["candidate_decision"],
        basis=row["basis"],
        call_class=row["class"],
        fingerprint=row["fingerprint"],
    )


def _key(row: Mapping[str, Any]) -> str:
    """Where the log's records have no ids, the call's place has to do."""
    content = f"{row['session_id']}\0{row['record'] or row['place']}"
    return hashlib.sha256(content.encode()).hexdigest()[:20]


def read_baseline(text: bytes) -> Baseline:
    """Raises BadBaseline."""
    try:
        baseline = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise BadBaseline(f"it is no baseline: {e}") from e
    if (baseline.format, baseline.format_version) != (FORMAT, FORMAT_VERSION):
        raise BadBaseline(f"it is {baseline.format!r} version {baseline.format_version}, and not version {FORMAT_VERSION}")
    return baseline


def written(baseline: Baseline) -> bytes:
    """A call a line, in an order that does not change: a diff of two baselines is readable."""
    head = {"format": FORMAT, "format_version": FORMAT_VERSION}
    head |= {name: getattr(baseline, name) for name in ("base", "candidate", "analysis_version")}
    lines = [f"  {_json(name)}: {_json(value)}" for name, value in head.items()]
    for name, members in (
        ("sessions", sorted(baseline.sessions.items())),
        ("calls", sorted(baseline.calls.items(), key=lambda item: (item[1].call, item[0]))),
    ):
        rows = ",\n".join(f"    {_json(key)}: {_json(value)}" for key, value in members)
        lines.append(f'  "{name}": {{\n{rows}\n  }}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
