"""Trims recorded runs to what this repository keeps: `python data/trim.py SOURCE` writes data/recordings anew.

SOURCE holds VERSION/SCENARIO[.ENTRY]/ folders; expected.json names those to take. What the client wrote under its home is kept
as it is. Telemetry is nine tenths of a run's bytes and mostly says the same again, so metrics, some events and spans, and the
bulky fields go; an object that stays keeps its other keys, their order and the recorded layout. The runs in WHOLE keep all of
it, so that a reader meets the real thing too.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WHOLE = {"0.15.10/b_true_replay", "0.24.4/b_true_replay.acp"}
WITH_REQUEST_TEXTS = {"0.24.4/h3_trip_on_three_prompts.acp"}
"""Where the next request carries the client's note to the model that the turn before was stopped."""

WITH_WIRE = {
    "0.12.0/a_same_id_diff_args_underscore.acp",
    "0.21.10/a_same_id_diff_args_underscore.acp",
    "0.21.10/b_true_replay.acp",
    "0.21.10/f2_handled_twice_in_batch.acp",
    "0.21.10/f_replay_plus_fresh.acp",
    "0.21.10/h3_trip_on_three_prompts.acp",
    "0.24.4/b_true_replay.acp",
    "0.24.4/b_true_replay.serve",
    "0.24.4/h3_trip_on_three_prompts.acp",
}
"""Whose wire log (or event stream) is kept: what the daemon told its interface of the calls."""
OFFERED = ("models", "modes", "authMethods", "configOptions")
"""Parts of the daemon's answers at the start that list what could be chosen."""

DROPPED_NAMES = {
    "POST",
    "qwen-code.auth",
    "qwen-code.config",
    "qwen-code.conversation_finished",
    "qwen-code.daemon.bridge",
    "qwen-code.daemon.request",
    "qwen-code.daemon.session_start",
    "qwen-code.hook",
    "qwen-code.llm_request",
    "qwen-code.repeated_tool_failure_guard",
    "qwen-code.ripgrep_fallback",
    "qwen-code.tool",
    "qwen-code.tool.execution",
}
DROPPED_KEYS = {
    "_attributeValueLengthLimit",
    "_attributesCount",
    "_droppedAttributesCount",
    "_droppedEventsCount",
    "_droppedLinksCount",
    "_duration",
    "_ended",
    "_hrTimeObserved",
    "_isReadonly",
    "_logRecordLimits",
    "_performanceOffset",
    "_performanceStartTime",
    "_spanLimits",
    "_startTimeProvided",
    "events",
    "hrTimeObserved",
    "instrumentationScope",
    "links",
    "totalAttributesCount",
}
DROPPED_ATTRIBUTES = {"qwen-code.context.usage", "gen_ai.tool.description", "skills", "subagents"}
REQUEST_TEXT = "request_text"


def objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    at = 0
    while (at := len(text) - len(text[at:].lstrip())) < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value


def trimmed(value: dict[str, Any], request_text: bool) -> dict[str, Any] | None:
    """The object without its bulk; None where it goes as a whole. A span has a name, a log record an event's, metrics none."""
    name = value.get("name") or value.get("attributes", {}).get("event.name")
    if name is None or name in DROPPED_NAMES:
        return None
    attributes = {
        key: inner
        for key, inner in value["attributes"].items()
        if key not in DROPPED_ATTRIBUTES and (request_text or key != REQUEST_TEXT)
    }
    return {key: inner for key, inner in value.items() if key not in DROPPED_KEYS} | {"attributes": attributes}


def trim_outfile(source: Path, target: Path, name: str) -> None:
    recorded = objects(source.read_bytes().decode())
    if name not in WHOLE:
        kept = [trimmed(value, name in WITH_REQUEST_TEXTS) for value in recorded]
        recorded = iter([value for value in kept if value is not None])
    target.write_bytes("".join(json.dumps(value, indent=2, ensure_ascii=False) + "\n" for value in recorded).encode())


def trim_otlp(source: Path, target: Path) -> None:
    """An OTLP payload: the same cuts in its own nesting."""
    payload = json.loads(source.read_bytes())
    for resource in [*payload.get("resourceLogs", []), *payload.get("resourceSpans", [])]:
        for scope in [*resource.get("scopeLogs", []), *resource.get("scopeSpans", [])]:
            kind = "logRecords" if "logRecords" in scope else "spans"
            scope[kind] = [record for record in scope[kind] if otlp_name(record) not in DROPPED_NAMES]
            for record in scope[kind]:
                gone = {*DROPPED_ATTRIBUTES, REQUEST_TEXT}
                record["attributes"] = [entry for entry in record["attributes"] if entry["key"] not in gone]
    target.write_bytes(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode())


def otlp_name(record: dict[str, Any]) -> str | None:
    events = [entry["value"].get("stringValue") for entry in record["attributes"] if entry["key"] == "event.name"]
    return record.get("name") or next(iter(events), None)


def trim_wire(source: Path, target: Path) -> None:
    """A wire log without the lists of what the daemon offers."""
    with target.open("w", encoding="utf-8") as file:
        for line in source.read_text("utf-8").splitlines():
            frame = json.loads(line)
            for name in OFFERED:
                frame["msg"].get("result", {}).pop(name, None)
            file.write(json.dumps(frame, ensure_ascii=False) + "\n")


def trim_stream(source: Path, target: Path) -> None:
    """An event stream without the list of the daemon's commands."""
    events = source.read_text("utf-8").split("\n\n")
    target.write_text("\n\n".join(event for event in events if '"availableCommands"' not in event), encoding="utf-8")


def main(source: Path) -> None:
    shutil.rmtree(HERE / "recordings", ignore_errors=True)
    for name, truth in json.loads((HERE / "expected.json").read_bytes())["recordings"].items():
        run, target = source / name, HERE / "recordings" / name
        shutil.copytree(run / "qwen-home", target / "qwen-home")
        outfile = run / "telemetry.log"
        if truth["telemetry"] and outfile.exists():
            trim_outfile(outfile, target / outfile.name, name)
        for wire_log in [*run.glob("acp.jsonl")] if name in WITH_WIRE else []:
            trim_wire(wire_log, target / wire_log.name)
        for stream in [*run.glob("events.sse")] if name in WITH_WIRE else []:
            trim_stream(stream, target / stream.name)
        for payload in sorted([*run.glob("otlp/*_v1_logs.json"), *run.glob("otlp/*_v1_traces.json")]):
            (target / "otlp").mkdir(exist_ok=True)
            trim_otlp(payload, target / "otlp" / payload.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
