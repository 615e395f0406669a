"""Sessions to ask the client about: few ids, few arguments, so that repeats, collisions and echoes are the rule.

Left out, because a log cannot tell it from its opposite: a fresh id that looks like one the client has suffixed
(`X__qwen_dup_2` sent by the model itself while X is in use).
"""

from __future__ import annotations

from random import Random
from typing import Any

from analysis.fingerprint import canonical_name

IDS = ("call_1", "run_shell_command_0", "functions.edit:0", "x", "é\u2028", "a__qwen_dup_2b", "__qwen_dup_2")
TOOLS = ("run_shell_command", "edit", "replace", "task", "agent", "grep_search", "search_file_content")
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"command": "ls"},
    {"command": "ls "},
    {"command": "ls", "timeout": 5},
    {"10": 1, "9": 2, "b": None},
    {},
)


def session_question(rng: Random) -> dict[str, Any]:
    ids = rng.sample(IDS, rng.randint(1, 4))
    tools = rng.sample(TOOLS, rng.randint(1, 3))
    arguments = rng.sample(ARGUMENTS, rng.randint(1, 3))

    def call() -> dict[str, Any]:
        end = rng.choices(("ok", "error", "lost"), (14, 3, 1))[0]
        tool = rng.choice(tools)
        # One object as the arguments of three tools would count as redacted.
        return {"tool": tool, "args": {**rng.choice(arguments), "for": canonical_name(tool)}, "end": end}

    def calls() -> list[dict[str, Any]]:
        return [call() for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 4)))]

    def step() -> dict[str, Any]:
        kind = rng.choices(("calls", "echo", "prompt", "compress", "rewind"), (60, 8, 20, 4, 3))[0]
        if kind == "calls":
            return {"calls": [{"id": _sent_id(rng, ids), **one} for one in calls()]}
        if kind == "echo":
            return {"echo": [{"back": rng.randint(1, 6), **one} for one in calls()]}
        if kind == "prompt":
            return {"prompt": rng.choices(("user", "cron", "notification"), (8, 1, 1))[0]}
        return {kind: rng.randint(0, 3) if kind == "compress" else rng.randint(1, 2)}

    steps = [{"prompt": "user"}]
    for _ in range(rng.randint(3, 16)):
        steps.append(step())
        if "rewind" in steps[-1]:
            steps.append({"prompt": "user"})
    return {"ask": "session", "entry": rng.choice(("daemon", "headless")), "steps": steps}


def _sent_id(rng: Random, ids: list[str]) -> str:
    """Now and then one as the client makes it for a call that came without: fresh, before its guard looks."""
    if rng.random() < 0.06:
        return f"call_{rng.randrange(10**12, 10**13)}_{rng.randrange(36**6, 36**7):x}"[:26]
    return rng.choice(ids)
