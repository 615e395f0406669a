"""Part B of the cases: loops without a repeated id, and what only looks like one. In the order of their numbers.

Where a case says nothing, every call is a first use, was executed, no guard decides anything else, and the session completed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from tests.support.log_script import (
    SHELL,
    FinalAnswer,
    Log,
    Prompt,
    RequestRefused,
    Round,
    Use,
    answered,
    failed,
    ok,
)

READ, SEARCH, TASKS, ASK = "read_file", "grep_search", "task_list", "ask_user_question"
SHA, OTHER_SHA = "0123456789abcdef" * 4, "fedcba9876543210" * 4


@dataclass(frozen=True)
class Told:
    """An event in the client's telemetry file, at the end of the session's only turn."""

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class LoopCase:
    name: str
    reports: str
    log: Log
    telemetry: tuple[Told, ...] = ()
    looping: str | None = None
    says: tuple[str, ...] = ()
    """What the loop's finding has to name, or, where there is no loop, the one that says that none can be told."""
    wasted_calls: int | None = None
    findings: tuple[str, ...] = ()
    """Kinds of the findings beside the loop's."""
    verdict: str = "completed"
    calls: int | None = None
    """How many; None: as many as the script has."""
    outcome: str = "executed"
    loop_events: tuple[tuple[str, str], ...] = ()
    """Type, and what explains it."""
    notes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Call, counted from 1 -> what the reason beside its class has to say. All others have no reason."""
    classes: frozenset[str] = frozenset(("first-use",))


def _loop_event(loop_type: str) -> Told:
    return Told("loop_detected", {"loop_type": loop_type})


def _round(number: int, args: Any, text: str = "ok", *, tool: str = SHELL) -> Round:
    name = f"call_{number}"
    return answered(Use(name, cast("Mapping[str, Any]", args), tool), by=(ok(name, text, tool=tool),))


def _other(number: int) -> Round:
    return _round(5000 + number, {"absolute_path": f"/p/{number}"}, f"content {number}", tool=READ)


def _refused(times: int) -> tuple[Round, ...]:
    text = "params/questions must be array"
    return tuple(
        answered(Use(f"call_{n}", {"questions": "[..]"}, ASK), by=(failed(f"call_{n}", text, "invalid_tool_params", tool=ASK),))
        for n in range(times)
    )


def _polling(*answers: str, others: bool = True) -> tuple[Round, ...]:
    polls = [_round(number, {"status": "open"}, text, tool=TASKS) for number, text in enumerate(answers)]
    return tuple(step for number, poll in enumerate(polls) for step in ((poll, _other(number)) if others else (poll,)))


def _stub(number: int, digest: str) -> str:
    """0.24.4 (code): a large output is put into a file whose name is the call's."""
    return (
        "Tool output was too large and has been truncated\n"
        f"Full output sha256: {digest}\n"
        f"The full output has been saved to: /home/u/.qwen/tmp/3f2a/task_list_call_{number}.output"
    )


def _whole(*steps: Round | RequestRefused | FinalAnswer, version: str = "0.15.10") -> Log:
    return Log((Prompt(), *steps), version)


def _cut_read(number: int) -> Round:
    whole = json.dumps({"absolute_path": "/srv/data/" + "x" * 120, "offset": 200 * number, "limit": 200})
    return _round(number, whole[:100], f"page {number}", tool=READ)


PART_B: tuple[LoopCase, ...] = (
    LoopCase(
        name="B1 fresh ids, same invalid parameters",
        reports="qwen-code#6075, #6076",
        log=_whole(*_refused(400), FinalAnswer(), version="0.24.4"),
        outcome="failed",
        looping="invalid-parameters",
        says=("ask_user_question refused for its parameters in 400 responses in a row",),
        wasted_calls=399,
    ),
    LoopCase(
        name="B1 the client's event at the third",
        reports="qwen-code#6075: invalid_tool_params_stagnation",
        log=_whole(*_refused(3), version="0.24.4"),
        telemetry=(_loop_event("invalid_tool_params_stagnation"),),
        outcome="failed",
        looping="invalid-parameters",
        wasted_calls=2,
        findings=("client-loop-stop",),
        verdict="stopped-visibly",
        loop_events=(("invalid_tool_params_stagnation", "detector"),),
    ),
    LoopCase(
        name="B1 two refusals are none",
        reports="qwen-code#6075, one less than its threshold",
        log=_whole(*_refused(2), FinalAnswer(), version="0.24.4"),
        outcome="failed",
    ),
    LoopCase(
        name="B2 identical until the server refuses",
        reports="qwen-code#5019, #5015",
        log=_whole(
            *(_round(n, {"absolute_path": "/p/a"}, "content", tool=READ) for n in range(7)),
            RequestRefused("400: repeated tool calls detected"),
        ),
        looping="identical-in-a-row",
        says=("read_file 7x in a row", "the same arguments, answered alike"),
        wasted_calls=6,
        findings=("provider-error",),
        verdict="provider-error",
    ),
    LoopCase(
        name="B3 alternating pair",
        reports="anomalyco/opencode#47759",
        log=_whole(
            *(_round(n, {"command": ("make one", "make two")[n % 2]}, ("one", "two")[n % 2]) for n in range(6)), FinalAnswer()
        ),
        looping="cycle",
        says=("a cycle of 2 responses", "came round 3x"),
        wasted_calls=4,
    ),
    LoopCase(
        name="B4 polling with changing results",
        reports="qwen-code#9450, #9492",
        log=_whole(*_polling("0 of 5", "1 of 5", "2 of 5", "4 of 5", "5 of 5"), FinalAnswer()),
        notes={9: ("progress", "a guard by arguments alone would stop at 5")},
    ),
    LoopCase(
        name="B4 polling in a row with changing results",
        reports="qwen-code#9450, #9492",
        log=_whole(*_polling("0 of 5", "1 of 5", "2 of 5", "4 of 5", "5 of 5", others=False), FinalAnswer()),
        notes={5: ("progress", "a guard by arguments alone would stop at 5")},
    ),
    LoopCase(
        name="B4 polling with unchanged results",
        reports="qwen-code#9450, #9492",
        log=_whole(*_polling(*["0 of 5"] * 5, others=False), FinalAnswer()),
        looping="identical-in-a-row",
        says=("task_list 5x in a row",),
        wasted_calls=4,
    ),
    LoopCase(
        name="B4 stubs of one output",
        reports="qwen-code#9492: the stub's path is a new one each time, its digest is not",
        log=_whole(*_polling(*(_stub(n, SHA) for n in range(5)), others=False), FinalAnswer()),
        looping="identical-in-a-row",
        says=("task_list 5x in a row",),
        wasted_calls=4,
    ),
    LoopCase(
        name="B4 stubs of two outputs",
        reports="qwen-code#9492: an output that changed and changed back",
        log=_whole(*_polling(*(_stub(n, OTHER_SHA if n == 2 else SHA) for n in range(5)), others=False), FinalAnswer()),
        notes={5: ("progress",)},
    ),
    LoopCase(
        name="B8 a volatile argument hides the loop",
        reports="bytedance/deer-flow#1578, cline/cline#9933",
        log=_whole(
            *(_round(n, {"command": "make status", "description": f"look again, {n}"}, "up") for n in range(9)), FinalAnswer()
        ),
        looping="identical-in-a-row",
        says=("9x in a row", "but for description", "loose key", "fingerprint tells 9 calls apart"),
        wasted_calls=8,
    ),
    LoopCase(
        name="B9 one call told 189 times",
        reports="letta-ai/lettabot#199: a start event for each piece of the arguments",
        log=_whole(_round(1, {"command": "make one"}), _round(2, {"command": "make two"}), FinalAnswer()),
        telemetry=tuple(
            Told("tool_call", {"call_id": "call_1", "function_name": SHELL, "function_args": '{"command":"' + "x" * n})
            for n in range(189)
        ),
        calls=2,
    ),
    LoopCase(
        name="B10 a volatile result hides the loop",
        reports="openclaw#93917, #34687",
        log=_whole(
            *(
                _round(n, {"command": "gw status"}, json.dumps({"state": "up", "durationMs": 7 * n, "pid": 4000 + n}))
                for n in range(121)
            ),
            FinalAnswer(),
        ),
        looping="identical-in-a-row",
        says=("121x in a row", "but for times, process ids"),
        wasted_calls=120,
    ),
    LoopCase(
        name="B11 cut arguments invent no loop",
        reports="ZaxbyHub/opencode-swarm#2060; affaan-m/ECC#2121",
        log=_whole(*(_cut_read(n) for n in range(8)), FinalAnswer()),
        findings=("cannot-tell-loop",),
        says=("fingerprint is unreliable", "cut at 100 characters"),
    ),
    LoopCase(
        name="B12 honest repetition",
        reports="gemini-cli#5873",
        log=_whole(
            *(
                step
                for n in range(30)
                for step in (
                    _round(3 * n, {"pattern": f"name_{n}"}, f"src/name_{n}.py", tool=SEARCH),
                    _round(3 * n + 1, {"command": f"git mv src/name_{n}.py lib/name_{n}.py"}),
                    _round(3 * n + 2, {"file_path": f"lib/name_{n}.py", "new_string": "import lib"}, tool="edit"),
                )
            ),
            FinalAnswer(),
        ),
    ),
    LoopCase(
        name="B13 spread-out repeats",
        reports="sashiko-dev/sashiko#492",
        log=_whole(
            *(step for n in range(69) for step in (_round(n, {"command": "git log -1"}, "commit 1f"), _other(n))),
            *(_other(n) for n in (69, 70)),
            FinalAnswer(),
        ),
        looping="spread-out-repeats",
        says=("run_shell_command 69x among 140 calls",),
        wasted_calls=68,
    ),
    LoopCase(
        name="B15 the whole batch repeats",
        reports="OpenHands/software-agent-sdk#1240; OpenRouterTeam/typescript-agent#89",
        log=_whole(
            *(answered(*(Use(f"r{n}_{name}", {"absolute_path": f"/p/{name}"}, READ) for name in "abc")) for n in range(4)),
            FinalAnswer(),
        ),
        looping="repeated-batch",
        says=("a batch of 3 calls", "4x in a row"),
        wasted_calls=9,
    ),
    LoopCase(
        name="B16 a loop without a call",
        reports="gemini-cli#26726; qwen-code#1775 (source)",
        log=_whole(version="0.24.4"),
        telemetry=(_loop_event("repetitive_thoughts"),),
        looping="text-loop",
        says=("repetitive_thoughts",),
        verdict="stopped-visibly",
        loop_events=(("repetitive_thoughts", "unmatched"),),
        classes=frozenset(),
    ),
)
