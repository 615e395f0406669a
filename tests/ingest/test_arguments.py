"""Arguments read again from their log, whole and as they were written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from analysis.fingerprint import fingerprint
from ingest.arguments import ArgumentsGone, LoggedArguments
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import Call, Place, Response

LONG = {"b": "long " * 1000, "a": 1}


def _line(call_id: str, *args: Any) -> str:
    parts = [{"functionCall": {"id": call_id, "name": "shell", "args": one}} for one in args]
    common = {"uuid": f"u-{call_id}", "parentUuid": None, "sessionId": "s", "type": "assistant", "version": "0.24.4"}
    return json.dumps({**common, "message": {"role": "model", "parts": parts}}) + "\n"


def _log(path: Path) -> list[tuple[Place, Call]]:
    text = (_line("one", {"x": 1}) + _line("two", LONG, {"y": "é\u2028"}) + _line("three", {})).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    reader = QwenChatReader(str(path), fingerprint)
    rows = [*reader.feed(text), *reader.finish()]
    return [(row.place, call) for row in rows if isinstance(row, Response) for call in row.calls]


def _arguments(path: Path) -> LoggedArguments:
    return LoggedArguments({str(path): QwenChatReader}, fingerprint)


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz"])
def test_each_call_has_the_arguments_of_its_line(name: str, tmp_path: Path) -> None:
    calls = _log(tmp_path / name)
    arguments = _arguments(tmp_path / name)
    read = [arguments.read(place, call.fingerprint) for place, call in calls if call.fingerprint is not None]
    assert read == [{"x": 1}, LONG, {"y": "é\u2028"}, {}]
    assert list(read[1]) == ["b", "a"]  # type: ignore[call-overload]
    assert len(calls[1][1].args_json) == 1024


def test_a_log_that_is_gone_or_says_something_else(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    calls = _log(path)
    place, call = calls[1]
    assert call.fingerprint is not None
    path.write_text(_line("one", {"x": 1}) + _line("two", {"other": "x" * 5000}))
    with pytest.raises(ArgumentsGone, match=r"log\.jsonl does not hold the call any more at byte"):
        _arguments(path).read(place, call.fingerprint)
    path.unlink()
    with pytest.raises(ArgumentsGone, match="cannot be read any more: No such file"):
        _arguments(path).read(place, call.fingerprint)
    with pytest.raises(ArgumentsGone, match="is no source of the store"):
        _arguments(tmp_path / "other").read(place, call.fingerprint)


def test_a_packed_log_that_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    place, call = _log(path)[2]
    assert call.fingerprint is not None
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ArgumentsGone):
        _arguments(path).read(place, call.fingerprint)


def test_a_record_is_read_once_for_its_calls_and_again(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    calls = _log(path)
    arguments = _arguments(path)
    digests = [(place, call.fingerprint) for place, call in calls if call.fingerprint is not None]
    first = [arguments.read(place, digest) for place, digest in digests]
    path.unlink()
    assert [arguments.read(place, digest) for place, digest in digests] == first
