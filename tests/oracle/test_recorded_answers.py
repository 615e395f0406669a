"""What the real client's functions answered, as `make oracle` recorded it: keys of 0.24.4, sessions of 0.24.4 and 0.21.10."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import decisions, keys

RECORDED = Path(__file__).with_name("recorded_answers.jsonl.gz")


@pytest.fixture(scope="module")
def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).split(b"\n") if line]


def test_every_recorded_key_is_found(recorded: list[dict[str, Any]]) -> None:
    values = [answer for answer in recorded if "key" in answer]
    assert len(values) == 3000
    assert list(keys.differences(values, values)) == []


def test_every_recorded_decision_is_made(recorded: list[dict[str, Any]]) -> None:
    sessions = [answer for answer in recorded if "decisions" in answer]
    assert [list(decisions.differences(answer)) for answer in sessions] == [[]] * len(sessions)
    by_version = {version: _decisions(sessions, version) for version in ("0.24.4", "0.21.10")}
    for decided in by_version.values():
        assert set(decided) == {"execute", "suppress", "trip", "drop"}
        assert decided["execute"] > 500
        assert decided["trip"] > 50


def _decisions(sessions: list[dict[str, Any]], version: str) -> Counter[str]:
    of_version = [answer for answer in sessions if answer["records"][0]["version"] == version]
    assert len(of_version) == 200
    return Counter(call["decision"] for answer in of_version for call in answer["decisions"])


def test_a_wrong_answer_is_told(recorded: list[dict[str, Any]]) -> None:
    """The comparison itself can fail."""
    first_key = next(answer for answer in recorded if "key" in answer)
    assert list(keys.differences([first_key], [{**first_key, "key": "0" * 16}]))
    session = next(answer for answer in recorded if "decisions" in answer)
    wrong = [{**call, "decision": "drop"} for call in session["decisions"]]
    assert list(decisions.differences({**session, "decisions": wrong}))
