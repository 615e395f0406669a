"""The recordings in data/ are what data/README.md says they are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent.parent / "data"
EXPECTED: dict[str, dict[str, Any]] = json.loads((DATA / "expected.json").read_bytes())["recordings"]
FILES = [path for path in DATA.rglob("*") if path.is_file()]


def test_expected_and_recordings_name_each_other() -> None:
    assert set(EXPECTED) == {str(path.relative_to(DATA / "recordings")) for path in DATA.glob("recordings/*/*")}


def test_together_they_stay_under_three_megabytes() -> None:
    assert sum(path.stat().st_size for path in FILES) < 3_000_000


def test_no_file_names_a_folder_of_the_recording_machine() -> None:
    own = re.compile(rb"(?<![\w.])/(?:work|root|tmp|Users)/")
    assert [path for path in FILES if path.suffix != ".py" and own.search(path.read_bytes())] == []


def test_each_family_of_scenarios_is_there() -> None:
    families = {name.split("/")[1].split("_")[0] for name in EXPECTED}
    assert families >= {"a", "a2", "a4", "b", "b2", "c", "c5", "d", "d2", "e", "e2", "f", "f2", "f3", "f5"}
    assert {family[0] for family in families} == set("abcdefghijkl")


def test_both_guards_and_none_and_every_entry_point_are_there() -> None:
    assert {name.split("/")[0] for name in EXPECTED} == {"0.5.2", "0.12.0", "0.15.10", "0.21.10", "0.24.4"}
    assert {truth["entry_point"] for truth in EXPECTED.values()} == {"headless", "acp", "serve", "tui"}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recording_is_of_its_version_and_has_what_is_promised(name: str) -> None:
    folder = DATA / "recordings" / name
    logs = [path for path in folder.glob("qwen-home/projects/*/chats/*.jsonl") if not path.name.endswith(".ledger.jsonl")]
    versions = {json.loads(line)["version"] for log in logs for line in log.read_bytes().splitlines()}
    assert versions == {name.split("/")[0]}
    has_telemetry = (folder / "telemetry.log").exists() or (folder / "otlp").exists()
    assert has_telemetry == EXPECTED[name]["telemetry"]


@pytest.mark.parametrize("name", [name for name in EXPECTED if "/l" in name and name > "0.2"])
def test_each_sub_agent_left_a_log_and_its_end(name: str) -> None:
    folders = DATA.glob(f"recordings/{name}/qwen-home/projects/*/subagents/*")
    (files,) = [sorted(path.suffixes[-1] for path in folder.iterdir()) for folder in folders]
    assert files == [".json", ".jsonl"]
    assert len(EXPECTED[name]["sub_agents"]) == 1


@pytest.mark.parametrize("name", [name for name in EXPECTED if "loop_events" in EXPECTED[name]])
def test_the_telemetry_tells_the_loop_events(name: str) -> None:
    telemetry = (DATA / "recordings" / name / "telemetry.log").read_text("utf-8")
    assert re.findall(r'"loop_type": "(\w+)"', telemetry) == EXPECTED[name]["loop_events"]
