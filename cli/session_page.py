"""The story of a session on a terminal: head, then each turn with its calls, then what belongs to no turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from analysis.inert_text import shortened
from analysis.session_words import (
    coverage_words,
    duplicates_words,
    is_odd_card,
    model_told_words,
    trip_of_card_words,
    waste_words,
)
from cli.layout import Cells, Details, Paragraph, Part, aligned
from cli.places import short_place, short_places
from cli.session_story import Story, decision_words, mark
from cli.words import words

ARGS_SHOWN = 200

_VERDICT_STYLES = {
    "silent-hang": "bold red",
    "provider-error": "red",
    "stopped-visibly": "yellow",
    "truncated": "yellow",
    "completed": "green",
}


def draw(story: Story) -> Iterator[Part]:
    if story["verdict"] is None:
        yield _line("bold", f"Session {story['session_id']}")
        yield Paragraph("No log of it was read, only what an interface was told of its calls.")
    else:
        yield _line("bold", f"Session {story['session_id']}  {story['kind']}")
        yield Details(_head(story))
    for turn in story["turns"]:
        yield Paragraph("")
        yield from _turn(turn)
    yield from _section("Guards, on what is observed", [_guard(row) for row in story["guards"]])
    yield from _section("Findings", [_finding(row) for row in story["findings"]])
    yield from _cards(story)
    yield from _section("Loop events of no known turn", [_loop_event(event) for event in story["loop_events"]])
    yield from _section("Calls on dead branches (rewound or aborted; in no count)", [_dead(c) for c in story["dead_calls"]])
    yield from _section("Sub-agents, forks and parents", [_relative(row) for row in story["relatives"]])
    if any(decision["basis"] == "counterfactual" for call in _calls(story) for decision in call["decisions"]):
        yield Paragraph("")
        yield Paragraph("* counterfactual: the guard would have changed this turn's history before this call")


def _head(story: Story) -> dict[str, object]:
    head: dict[str, object] = {
        "verdict": f"{story['verdict']} ({story['confidence']}): {story['reason']}",
        "client": f"{story['client']} {words(story['client_version'])}, entry point {story['entry_point']}"
        f" ({story['entry_point_confidence']}), guard in force {story['guard_in_force']}",
        "models": story["models"] or None,
        "folder": story["cwd"],
        "log": list(dict.fromkeys(call["source_path"] for call in _calls(story))) or None,
        "time": f"{words(story['started_at'])} to {words(story['ended_at'])}",
        "counts": f"{story['turn_count']} turns, {story['calls']} calls, {story['collisions']} collisions,"
        f" {story['replays']} replays, {story['trips']} trips; {duplicates_words(story['same_response_duplicates'])}",
    }
    if story["loop_detection"] != "unknown":
        head["client"] = f"{head['client']}, its loop detection {story['loop_detection']}"
    if story["forked_from"]:
        head["forked"] = f"from {story['forked_from']}; what it copied is in no count"
    return head


def _turn(turn: Mapping[str, Any]) -> Iterator[Part]:
    inherited = "  copied by a fork" if turn["inherited"] else ""
    title = f"Turn {turn['turn_no']}  {turn['origin']}  {words(turn['started_at'])}  {words(turn['model'])}{inherited}"
    yield _line("bold", title)
    style = _VERDICT_STYLES.get(turn["verdict"], "")
    yield Paragraph(f" ({turn['confidence']}): {turn['reason']}", lead=turn["verdict"], lead_style=style)
    named: dict[str, object] = {"prompt": turn["prompt_id"], "see": short_places(turn["evidence"])}
    if turn["looping"]:
        named["loops"] = turn["looping"]
    if told := model_told_words(turn):
        named["model told"] = told
    yield Details({name: value for name, value in named.items() if value})
    yield from _calls_of(turn["responses"])
    for trip in turn["trips"]:
        yield Paragraph(_trip(trip), "red" if trip["in_force"] else "")
    for event in turn["loop_events"]:
        yield Paragraph("loop event  " + "  ".join(words(value) for value in _loop_event(event)))


def _calls_of(responses: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    """What tells a call at a glance in columns; below it its arguments, beside those of the call it collides with."""
    entries = [entry for response in responses for entry in response["calls"] or [response]]
    for entry, head in zip(entries, aligned([_call_head(entry) for entry in entries]), strict=True):
        if "call_no" not in entry:
            head.style = "dim"
            yield head
            continue
        if entry["outcome"] in ("dropped", "unanswered"):
            head.style = "red"
        elif entry["class"] != "first-use":
            head.style = "yellow"
        yield head
        yield Details(_call_details(entry), indent=7)


def _call_head(entry: Mapping[str, Any]) -> tuple[object, ...]:
    if "call_no" not in entry:
        return (entry["response_no"], "no call", "text" if entry["has_text"] else "no text", "", "", "")
    place = f"{entry['response_no']}.{entry['call_no']}"
    line = f"line {entry['source_line']}"
    return (place, entry["tool"], entry["recorded_id"], entry["class"], entry["outcome"], line)


def _call_details(call: Mapping[str, Any]) -> dict[str, object]:
    named: dict[str, object] = {}
    if call["provider_id"] != call["recorded_id"] or call["id_source"] != "recorded":
        named["id"] = f"{words(call['provider_id'])} ({call['id_source']})"
    if call["class_reason"]:
        named["class"] = call["class_reason"]
    named["guards"] = f"copy of {call['echo_of']}" if call["echo_of"] else _guards(call["decisions"])
    if call["collides_with"]:
        first = call["collides_with"]
        place = f"{first['first_turn_no']}:{first['first_response_no']}.{first['first_call_no']}"
        named["first"] = f"{shortened(first['first_args_json'], ARGS_SHOWN)} ({first['first_tool']} at {place})"
    named["args"] = shortened(call["args_json"], ARGS_SHOWN)
    return named


def _guards(decisions: Sequence[dict[str, Any]]) -> str:
    """`all execute`, or the guards by what they decide; where one leaves history is said by name."""
    by_decision = sorted(decisions, key=lambda decision: decision["decision"] + mark(decision))
    groups = [
        (decided, [decision["guard"] for decision in group])
        for decided, group in groupby(by_decision, key=lambda decision: decision["decision"] + mark(decision))
    ]
    if len(groups) == 1:
        text = f"all {groups[0][0]}" if len(groups[0][1]) > 1 else decision_words(decisions[0])
    else:
        text = "; ".join(f"{decided}: {', '.join(guards)}" for decided, guards in groups)
    leaving = [decision["guard"] for decision in decisions if decision["diverges"]]
    return f"{text}; first divergence of {', '.join(leaving)} here" if leaving else text


def _trip(trip: Mapping[str, Any]) -> str:
    told = {True: "the user was told", False: "the user was not told", None: "whether the user was told is unknown"}
    of = "in force" if trip["in_force"] else trip["basis"]
    recorded = "recorded" if trip["recorded"] else "replayed"
    return (
        f"trip of {trip['guard']} ({of}, {recorded}) at response {trip['response_no']}: {words(trip['tool'])}"
        f" id {words(trip['provider_id'])}, {words(trip['trip_class'])}; {told[trip['told_user']]};"
        f" telemetry {trip['telemetry']}"
    )


def _section(title: str, rows: Sequence[Sequence[object]]) -> Iterator[Paragraph | Cells]:
    if rows:
        yield Paragraph("")
        yield _line("bold", title)
        yield from aligned(rows)


def _finding(row: Mapping[str, Any]) -> tuple[object, ...]:
    turn = f"turn {row['turn_no']}" if row["turn_no"] is not None else "session"
    waste = waste_words(row)
    return (turn, row["kind"], row["confidence"], f"{row['reason']}{f'; {waste}' if waste else ''}; try: {row['what_to_try']}")


def _guard(row: Mapping[str, Any]) -> tuple[object, ...]:
    decided = ", ".join(f"{decision} {row[decision]}" for decision in ("execute", "suppress", "trip", "drop"))
    return (row["guard"], "in force" if row["in_force"] else "", coverage_words(row["valid_calls"], row["calls"]), decided)


def _cards(story: Story) -> Iterator[Paragraph | Cells]:
    odd = [card for card in story["cards"] if is_odd_card(card)]
    if story["verdict"] is None:
        yield from _section("Tool cards", [_card(card) for card in story["cards"]])
    else:
        yield from _section("Tool cards that are double or stuck", [_card(card) for card in odd])
    if odd:
        yield Paragraph(f"What each remedy would show and lose: loopscope cards --remedies --session {story['session_id']}")


def _card(card: Mapping[str, Any]) -> tuple[object, ...]:
    fixed_by = f"ends right under {', '.join(card['fixed_by'])}" if card["fixed_by"] else ""
    return (
        f"card {card['card_no']}",
        "(no id)" if card["card_id"] is None else card["card_id"],
        card["state"] + (", stuck" if card["is_stuck"] else ""),
        card["cause"] or "",
        fixed_by,
        trip_of_card_words(card) or "",
    )


def _loop_event(event: Mapping[str, Any]) -> tuple[object, ...]:
    return (event["loop_type"], event["ts"], event["model"], f"explained by {event['explained_by']}")


def _dead(call: Mapping[str, Any]) -> tuple[object, ...]:
    place = short_place(f"{call['source_path']}:{call['source_line']}")
    return (call["tool"], call["recorded_id"], place, shortened(call["args_json"], ARGS_SHOWN))


def _relative(row: Mapping[str, Any]) -> tuple[object, ...]:
    return (row["relation"], row["session_id"], row["verdict"], f"{row['turns']} turns", f"{row['calls']} calls")


def _calls(story: Story) -> Iterator[dict[str, Any]]:
    return (call for turn in story["turns"] for response in turn["responses"] for call in response["calls"])


def _line(style: str, text: str) -> Paragraph:
    return Paragraph(text, style)
