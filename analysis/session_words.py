"""What the page of a session and `show` say in words, so that both say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.counting import counted


def coverage_words(valid_calls: int, calls: int) -> str:
    """Beside every total of a guard's decisions: it sums these calls and no others."""
    return f"valid for {valid_calls:,} of {counted(calls, 'call')}"


def duplicates_words(number: int | None) -> str:
    """The client drops them before it writes its log: without other evidence no number is known, 0 least of all."""
    return f"duplicates within one response: {'not in this kind of log' if number is None else f'{number:,}'}"


def model_told_words(turn: Mapping[str, Any]) -> str | None:
    """Whether the model learnt that the turn had been stopped; None for a turn that was not. `turn`: a row of session_turns."""
    if not turn["stopped"]:
        return None
    return "not known" if turn["context_kept"] is None else "yes" if turn["context_kept"] else "no"


def waste_words(finding: Mapping[str, Any]) -> str | None:
    """What the finding cost, as far as the log tells."""
    calls, seconds, tokens = (finding[f"wasted_{what}"] for what in ("calls", "seconds", "tokens"))
    parts = [
        counted(calls, "call") if calls is not None else None,
        f"{seconds:,.1f} seconds" if seconds is not None else None,
        counted(tokens, "token") if tokens is not None else None,
    ]
    told = ", ".join(part for part in parts if part)
    return f"wasted: {told}" if told else None


def trip_of_card_words(card: Mapping[str, Any]) -> str | None:
    """Which trip left the card behind, by the place under which the trips are listed."""
    if card["trip_turn_no"] is None:
        return None
    return f"trip {card['trip_turn_no']}.{card['trip_response_no']} of {card['trip_guard']}"


def is_odd_card(card: Mapping[str, Any]) -> bool:
    """Double or stuck."""
    return bool(card["is_stuck"] or card["cards_of_id"] > 1)
