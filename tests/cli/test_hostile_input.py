"""What must not stop a run, or pass a gate: a foreign file, a broken link, a guard that exits, an argument that is no text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.readers.qwen_wire import microseconds, time_of
from tests.cli.conftest import Loopscope
from tests.support.ingested import ingest_into

CHAT = next((Path(__file__).parents[2] / "data/recordings/0.24.4/e_normal").rglob("chats/*.jsonl"))
CALLS = 6
"""EXPECTED of that recording: ok err err err ok+ok."""


def test_a_json_schema_beside_a_log_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type":["string","null"]}')
    (tmp_path / CHAT.name).write_bytes(CHAT.read_bytes())
    with ingest_into(tmp_path / "store.duckdb", tmp_path) as store:
        assert store.execute("SELECT count(*) FROM calls").fetchall() == [(CALLS,)]


@pytest.mark.parametrize("parent", [7, True, [], {}])
def test_a_parent_that_is_no_id_begins_no_new_conversation(parent: object, tmp_path: Path) -> None:
    odd = {"uuid": "z", "parentUuid": parent, "sessionId": CHAT.stem, "type": "system", "subtype": "custom_title"}
    (tmp_path / CHAT.name).write_bytes(CHAT.read_bytes() + json.dumps(odd).encode() + b"\n")
    with ingest_into(tmp_path / "store.duckdb", tmp_path) as store:
        assert store.execute("SELECT calls FROM sessions").fetchall() == [(CALLS,)]
        assert store.execute("SELECT count(*) FROM dead_calls").fetchall() == [(0,)]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00Z"])
def test_a_time_at_the_ends_of_the_calendar_is_none(time: str) -> None:
    assert microseconds(time_of(time)) is None


@pytest.mark.parametrize(
    "text", ["import sys\nsys.exit(0)\n", "class G:\n    def decide(self, *_):\n        raise SystemExit(0)\n"]
)
def test_a_guard_that_exits_passes_no_gate(text: str, loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
    guard = tmp_path / "g.py"
    guard.write_text(text)
    answer = loopscope("guard", "diff", "in-force", "x", "--guard", f"x={guard}:G", "--fail-on", "any", "--db", recorded)
    assert answer.code != 0
    assert "SystemExit" in answer.err or "undecided" in answer.err


def test_an_argument_that_is_no_text_is_wrong_usage(loopscope: Loopscope, recorded: Path) -> None:
    assert loopscope("triage", "--session", "q\udcff", "--db", recorded).code == 2
    assert loopscope("sql", "SELECT '\udcff'", "--db", recorded).code == 2


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["guard", "run", "x", "--guard", "x=cat", "--reply-within", "1e300"], "0.01<=x<=86400"),
        (["guard", "run", "x", "--guard", "x=cat", "--reply-within", "nan"], "nan is no number"),
        (["guard", "check", "cat", "--reply-within", "inf"], "0.01<=x<=86400"),
        # It is neither above nor below the coverage there is: a gate would pass, whatever it saw.
        (
            ["guard", "diff", "fingerprint", "none", "--fail-on", "fresh-call-blocked", "--min-coverage", "nan"],
            "nan is no number",
        ),
        (["guard", "diff", "fingerprint", "none", "--examples", "99999999999999999999999"], "0<=x<=1000000"),
        (["serve", "--port", "99999"], "1<=x<=65535"),
        (["triage", "--since", "999999w"], "before the year 1"),
    ],
)
def test_a_number_out_of_range_is_wrong_usage(arguments: list[str], allowed: str, loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope(*arguments, *(["--db", recorded] if arguments[1] != "check" else []))
    assert (answer.code, answer.out) == (2, "")
    assert allowed in answer.err
    assert "Traceback" not in answer.err


def test_a_period_to_the_end_of_the_calendar_leaves_out_nothing(loopscope: Loopscope, recorded: Path) -> None:
    counted = ("sql", "SELECT count(*) AS n FROM turns", "--format=json", "--db", recorded)
    every, in_period = (loopscope(*counted, *more) for more in ([], ["--since=0001-01-01", "--until=9999-12-31"]))
    assert in_period.code == 0
    assert in_period.json() == every.json() != [{"n": 0}]


@pytest.mark.parametrize("command", [["triage"], ["doctor"], ["sql", "SELECT 1"], ["rebuild"], ["ingest", str(CHAT)]])
def test_a_store_of_an_impossible_name(command: list[str], loopscope: Loopscope, tmp_path: Path) -> None:
    answer = loopscope(*command, "--db", tmp_path / ("a" * 300))
    assert answer.code == (5 if command[0] == "ingest" else 3)
    assert ("There is no store at" if command[0] == "rebuild" else "File name too long") in answer.out + answer.err
    assert "Traceback" not in answer.err
