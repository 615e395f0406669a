"""The conformance kit: scripts whose right decisions are known, played to a guard, and the rules that it keeps.

Two kinds of rules. `must`: what every guard has to do to be replayed at all, and never to stand in the way of a new call.
`policy`: in what guards differ; each is kept or not, and neither is wrong unless it was asked for.

A script is a test case like any other (guard_case.py), so the kit plays it as `guard run` plays a log.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analysis.case_cut import decisions_of
from analysis.case_facts import CaseSession
from analysis.guard_case import Answered, CaseCall, GuardCase, PromptStep, ResponseStep, Step
from analysis.guards import Contender
from analysis.guards.arguments import Source
from analysis.guards.base import GuardFailed
from analysis.guards.outside import OutsideGuard
from analysis.guards.process import ProcessGuard
from analysis.trial import replayed

Kind = Literal["must", "policy"]
MakeGuard = Callable[[Source], Contender]
"""A new guard, and for a program a new process."""

_WITHOUT_GUARD = "0.15.10"
"""The scripts' history is of a client that ran everything: so it shapes no decision."""


@dataclass(frozen=True)
class Rule:
    id: str
    kind: Kind
    about: str
    scripts: tuple[tuple[tuple[Step, ...], list[list[str]]], ...]
    """Sessions that one guard plays in order, each with the decisions that keep the rule."""


@dataclass(frozen=True)
class RuleResult:
    rule: Rule
    kept: bool
    why_not: str | None = None


def _call(call_id: str | None, args: Any = "a", name: str = "run_shell_command", answered: Answered = "ok") -> CaseCall:
    return CaseCall(call_id, name, {"command": args} if isinstance(args, str) else args, answered)


def _turn(*responses: CaseCall | Sequence[CaseCall]) -> tuple[Step, ...]:
    batches = ([response] if isinstance(response, CaseCall) else [*response] for response in responses)
    return (PromptStep(), *map(ResponseStep, batches))


_A, _B = _call("x"), _call("x", "b")
_RUN, _ANSWER, _TRIP = ["execute"], ["suppress"], ["trip"]
_NEW = (_turn(_call("x"), _call("y", "b"), [_call("z", "c"), _call("w", "d")]), [_RUN, _RUN, ["execute", "execute"]])
_ODD = 'a"\\\u2028\U0001f600\x00\n'
_LONG = "long " * 40_000

RULES = (
    Rule("answers", "must", "answers every batch with one decision a call", (_NEW,)),
    Rule("new-ids-run", "must", "runs a new call under a new id", (_NEW,)),
    Rule("no-id-runs", "must", "runs a call without an id, also an equal one",
         ((_turn(_call(None), _call(None)), [_RUN, _RUN]),)),
    Rule("sessions-apart", "must", "knows nothing of one session in the next", (_NEW, _NEW)),
    Rule("long-arguments", "must", "takes arguments of 200 KB", ((_turn(_call("x", _LONG)), [_RUN]),)),
    Rule("odd-text", "must", "takes any text as id, name and argument", ((_turn(_call(_ODD, _ODD, _ODD)), [_RUN]),)),
    Rule("equal-call-runs", "policy", "runs a call under a new id, also one equal to a call under another",
         ((_turn(_A, _call("y")), [_RUN, _RUN]),)),
    Rule("replay-answered", "policy", "answers the same call under the same id", ((_turn(_A, _A), [_RUN, _ANSWER]),)),
    Rule("collision-runs", "policy", "runs another call under the same id", ((_turn(_A, _B), [_RUN, _RUN]),)),
    Rule("other-tool-runs", "policy", "runs another tool with the same arguments under the same id",
         ((_turn(_A, _call("x", "a", "read_file")), [_RUN, _RUN]),)),
    Rule("key-order", "policy", "takes arguments for the same whose keys come in another order",
         ((_turn(_call("x", {"a": 1, "b": 2}), _call("x", {"b": 2, "a": 1})), [_RUN, _ANSWER]),)),
    Rule("old-names", "policy", "takes a tool's old name (`task`) for its new one (`agent`)",
         ((_turn(_call("x", "a", "task"), _call("x", "a", "agent")), [_RUN, _ANSWER]),)),
    Rule("second-repeat-trips", "policy", "ends the turn when a call comes again after its synthetic answer",
         ((_turn(_A, _A, _A), [_RUN, _ANSWER, _TRIP]),)),
    Rule("trip-drops-batch", "policy", "drops the whole batch with the call that trips",
         ((_turn(_A, _A, [_call("y"), _A, _call("z")]), [_RUN, _ANSWER, ["drop", "trip", "drop"]]),)),
    Rule("sibling-runs", "policy", "answers a replay and runs the new call beside it",
         ((_turn(_A, [_A, _call("y")]), [_RUN, ["suppress", "execute"]]),)),
    Rule("prompt-forgives", "policy", "answers once more, and does not trip, after the next prompt",
         (((*_turn(_A, _A), *_turn(_A)), [_RUN, _ANSWER, _ANSWER]),)),
    Rule("failure-counts", "policy", "answers the same call after one that failed",
         ((_turn(_call("x", answered="error"), _A), [_RUN, _ANSWER]),)),
    Rule("first-counts", "policy", "answers a replay of the id's first call after another call under it",
         ((_turn(_A, _B, _A), [_RUN, _RUN, _ANSWER]),)),
    Rule("later-counts", "policy", "answers a replay of a later call under the id, which the shipped guard runs",
         ((_turn(_A, _B, _B), [_RUN, _RUN, _ANSWER]),)),
)  # fmt: skip

HELLO = Rule("hello", "must", "answers hello in this version of the protocol", ())
NOTE = Rule("note-ignored", "must", "passes over a message of a kind that it does not know", (_NEW,))
GOODBYE = Rule("ends", "must", "ends when its input does", (_NEW,))
RULE_IDS = tuple(rule.id for rule in (HELLO, *RULES, NOTE, GOODBYE))


def play_kit(make: MakeGuard, only: Container[str] = RULE_IDS) -> Iterator[RuleResult]:
    """only: ids of rules. Raises CannotStart where there is no such program."""
    hello = _play(HELLO, make)
    yield hello
    if not hello.kept:
        yield from (RuleResult(rule, False, "not played without a hello") for rule in (*RULES, NOTE, GOODBYE))
        return
    for rule in (*RULES, NOTE, GOODBYE):
        if rule.id in only:
            yield _play(rule, make, with_note=rule is NOTE, must_end=rule is GOODBYE)


def _play(rule: Rule, make: MakeGuard, *, with_note: bool = False, must_end: bool = False) -> RuleResult:
    sessions = [
        CaseSession(GuardCase(steps=list(steps), client_version=_WITHOUT_GUARD), f"{rule.id}-{number}")
        for number, (steps, _) in enumerate(rule.scripts, 1)
    ]
    facts = [session.facts() for session in sessions]
    contender = make(lambda place, fingerprint: next(s for s in sessions if s.id == place.source).source(place, fingerprint))
    guard = contender.guard
    try:
        if isinstance(guard, ProcessGuard):
            guard.start()
        if isinstance(guard, OutsideGuard) and with_note:
            guard.note("whatever stands here is of no concern to a guard")
        for one, (_, expected) in zip(facts, rule.scripts, strict=True):
            decided = decisions_of(replayed(one, contender), contender.name)
            if decided != expected:
                return RuleResult(rule, False, f"{_words(decided)} instead of {_words(expected)}")
        if must_end and isinstance(guard, ProcessGuard) and not guard.close():
            return RuleResult(rule, False, "it had to be killed")
    except GuardFailed as e:
        return RuleResult(rule, False, str(e))
    finally:
        if isinstance(guard, ProcessGuard):
            guard.close()
    return RuleResult(rule, True)


def _words(decided: Sequence[Sequence[str]]) -> str:
    return "; ".join(", ".join(batch) for batch in decided)
