"""The calls of a session as table rows: class, outcome and what every guard decides, with its two reservations.

`(trip)` is a decision after the guard's first divergence: history then shows another guard's world, so it is a guess.
`≠ trip` is that first divergence itself: the last decision that is a fact.
"""

from __future__ import annotations

import polars as pl

from analysis.inert_text import inert, shortened
from dashboard.look import outcome_words

PLACE = ("turn_no", "response_no", "call_no")
ARGS_SHOWN = 160
ID_SHOWN = 18


def decision_words(decision: str, basis: str, diverges: bool) -> str:
    if diverges:
        return f"≠ {decision}"
    return f"({decision})" if basis == "counterfactual" else decision


def rows(calls: pl.DataFrame, decisions: pl.DataFrame, guards: list[str]) -> list[dict[str, object]]:
    """`calls` and `decisions` as the named queries give them. A guard without a row for a call had tripped before it: blank."""
    decided: dict[tuple[object, ...], dict[str, str]] = {}
    for row in decisions.iter_rows(named=True):
        words = decision_words(row["decision"], row["basis"], row["diverges"])
        decided.setdefault(_place(row), {})[row["guard"]] = words
    return [_row(call, guards, decided.get(_place(call), {})) for call in calls.iter_rows(named=True)]


def _row(call: dict[str, object], guards: list[str], decided: dict[str, str]) -> dict[str, object]:
    return {
        "call": place_words(call),
        "tool": shortened(str(call["tool"]), 60),
        "id": tail(inert(str(call["recorded_id"] or "none")), ID_SHOWN),
        "outcome": outcome_words(str(call["outcome"])),
        "class": str(call["class"]) + (" (copy)" if call["echo_of"] else ""),
        **{guard: decided.get(guard, "") for guard in guards},
        "arguments": shortened(str(call["args_json"]), ARGS_SHOWN),
        "seconds": None if call["duration_ms"] is None else float(str(call["duration_ms"])) / 1000,
        "error": inert(str(call["error_class"] or "")),
        "why this class": inert(str(call["class_reason"] or "")),
        "recorded id": inert(str(call["recorded_id"] or "")),
        "provider's id": inert(str(call["provider_id"] or "")),
        "id is": call["id_source"],
        "at (UTC)": call["ts"],
        "evidence": f"{inert(str(call['source_path']))}:{call['source_line']}",
    }


def tail(text: str, most: int) -> str:
    """Ids that are alike differ in how they end: `call_1`, `call_1__qwen_dup_2`."""
    return text if len(text) <= most else "…" + text[1 - most :]


def place_words(call: dict[str, object]) -> str:
    return ".".join(map(str, _place(call)))


def _place(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(row[part] for part in PLACE)
