"""One session told whole: turns with their responses, responses with their calls, calls with every guard's decision.

The nested form is what `show --format json` prints and what its table is drawn from, so both say the same. Where the rows of a
view have a count and here the counted things themselves take its name, the count is `turn_count`, `response_count`,
`call_count`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from analysis import queries

if TYPE_CHECKING:
    import duckdb

Story = dict[str, Any]


def tell(con: duckdb.DuckDBPyConnection, session_id: str, search: str = "reverse") -> Story | None:
    """None where the filters leave nothing of the session. `search`: how the interface finds the card of an update.

    Of a session that only its interface told of there are cards and what hangs on them; all that a log would say is null."""

    def rows(name: str, **parameters: object) -> list[dict[str, Any]]:
        return queries.run(con, name, session=session_id, **parameters).dicts()

    header = queries.run(con, "session_header", session=session_id)
    cards = rows("session_cards", search=search)
    if not header.rows and not cards:
        return None
    unlogged: Story = {**dict.fromkeys(header.columns), "session_id": session_id}
    story: Story = header.dicts()[0] if header.rows else unlogged
    decisions = _by(rows("session_decisions"), "turn_no", "response_no", "call_no")
    collisions = _by(rows("session_collisions"), "turn_no", "response_no", "call_no")
    calls = rows("session_calls")
    for call in calls:
        place = (call["turn_no"], call["response_no"], call["call_no"])
        call["decisions"] = decisions.get(place, [])
        call["collides_with"] = collisions.get(place, [None])[0]
    calls_of = _by(calls, "turn_no", "response_no")
    responses = rows("session_responses")
    for response in responses:
        response["call_count"] = response["calls"]
        response["calls"] = calls_of.get((response["turn_no"], response["response_no"]), [])
    responses_of = _by(responses, "turn_no")
    trips_of, events_of = _by(rows("session_trips"), "turn_no"), _by(rows("session_loop_events"), "turn_no")
    turns = rows("session_turns")
    for turn in turns:
        key = (turn["turn_no"],)
        turn["response_count"] = turn["responses"]
        turn["responses"] = responses_of.get(key, [])
        turn["trips"] = trips_of.pop(key, [])
        turn["loop_events"] = events_of.pop(key, [])
    story["turn_count"] = story["turns"]
    story["turns"] = turns
    story["loop_events"] = [event for events in events_of.values() for event in events]
    """Those that no turn could be found for."""
    story["guards"] = rows("session_coverage") if header.rows else []
    story["findings"] = rows("session_findings")
    story["cards"] = cards
    story["card_remedies"] = rows("session_card_remedies", search=search)
    story["dead_calls"] = rows("session_dead_calls")
    story["relatives"] = rows("session_relatives")
    return story


def calls_of(story: Story) -> list[dict[str, Any]]:
    """The calls one by one, for a format without nesting; decisions as `GUARD=DECISION`, with `*` where counterfactual."""
    return [
        {
            **{name: value for name, value in call.items() if name not in ("decisions", "collides_with")},
            "decisions": [decision_words(decision) for decision in call["decisions"]],
        }
        for turn in story["turns"]
        for response in turn["responses"]
        for call in response["calls"]
    ]


def decision_words(decision: dict[str, Any]) -> str:
    return f"{decision['guard']}={decision['decision']}{mark(decision)}"


def mark(decision: dict[str, Any]) -> str:
    return "*" if decision["basis"] == "counterfactual" else ""


def _by(rows: list[dict[str, Any]], *names: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    grouped: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        grouped[tuple(row[name] for name in names)].append(row)
    return grouped
