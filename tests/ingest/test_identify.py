from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from ingest.identify import WHY_SKIPPED, identify
from ingest.plan import make_plan
from ingest.readers.qwen_chat import QwenChatReader
from ingest.readers.qwen_telemetry import QwenTelemetryReader
from ingest.sources import HEAD_BYTES, discover
from tests.ingest.readers.reading import CHATS, DATA, SESSION, line, lines, prompt, record

LOG = (CHATS / f"{SESSION}.jsonl").read_bytes()


def kind(data: bytes, name: str = "a.jsonl") -> str:
    reader, what = identify(Path("/logs") / name, io.BytesIO(data))
    assert (reader is None) == (what in WHY_SKIPPED)
    return what


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "anything"])
def test_content_decides_packed_or_not_whatever_the_name(pack: Callable[[bytes], bytes], name: str) -> None:
    assert identify(Path("/logs") / name, io.BytesIO(pack(LOG))) == (QwenChatReader, "qwen-chat")
    telemetry = (DATA / "telemetry.log").read_bytes()
    assert identify(Path("/logs") / name, io.BytesIO(pack(telemetry))) == (QwenTelemetryReader, "qwen-telemetry")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
@pytest.mark.parametrize("blank", [b"", b"\n", b" ", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b" " * HEAD_BYTES])
def test_nothing_but_white_space_is_empty(pack: Callable[[bytes], bytes], blank: bytes) -> None:
    assert WHY_SKIPPED[kind(pack(blank), "telemetry.log")] == "it is empty"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_other_content_is_known_to_nobody(pack: Callable[[bytes], bytes]) -> None:
    assert kind(pack(b'{"some":"json"}\n')) == "unknown"
    assert kind(pack(b"\x00" * 5000)) == "unknown"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_a_log_is_recognised_behind_a_long_block_of_nuls_or_a_long_first_record(pack: Callable[[bytes], bytes]) -> None:
    assert kind(pack(b"\x00" * 9000 + b"\n" + LOG)) == "qwen-chat"
    assert kind(pack(line(prompt("u1", "x" * HEAD_BYTES)) + b"\n" + lines(prompt("u2")))) == "qwen-chat"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
@pytest.mark.parametrize(
    "before",
    [
        b"\x00" * 200_000,
        random.Random(2).randbytes(200_000) + b"\n",
        b"{}, garbage {\n" * 10_000,
        lines(record("u" * 100_000, cwd="/p")),
        lines(prompt("u0", cwd="/p" * 100_000)),
        line(prompt("u0", cwd="/p" * 100_000))[:150_000] + b"\n",
    ],
    ids=["nuls", "noise", "garbage", "long uuid", "long cwd", "long and torn"],
)
def test_a_log_is_recognised_behind_damage_or_a_member_longer_than_the_head(
    before: bytes, pack: Callable[[bytes], bytes]
) -> None:
    assert kind(pack(before + LOG)) == "qwen-chat"


def test_damage_alone_makes_no_log() -> None:
    assert kind(b"\x00" * 200_000 + b'{"some":"json"}\n' * 100) == "unknown"
    assert kind(b"{}, garbage {\n" * 10_000) == "unknown"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_a_log_of_another_kind_is_known_by_its_head(pack: Callable[[bytes], bytes]) -> None:
    assert kind(pack(b'{"some":"json"}\n' * 10_000 + LOG)) == "unknown"


class _Counting(io.BytesIO):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.read_bytes = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.read_bytes += len(data)
        return data


@pytest.mark.parametrize(("data", "most"), [(b'{"some":"json"}\n', 64 << 10), (b"no JSON at all\n", 1 << 20)])
def test_little_is_read_of_a_file_that_is_no_log(data: bytes, most: int) -> None:
    stream = _Counting(data * 1_000_000)
    assert identify(Path("/logs/a.txt"), stream)[0] is None
    assert stream.read_bytes == most


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_a_packed_log_that_breaks_off_is_recognised_by_what_is_there(pack: Callable[[bytes], bytes]) -> None:
    assert kind(pack(LOG + random.Random(1).randbytes(300_000))[:-100]) == "qwen-chat"
    assert kind(pack(LOG)[:10]) == "unpackable"


def test_a_packed_log_of_a_wrong_checksum_is_read_like_any_other() -> None:
    packed = bytearray(gzip.compress(LOG))
    packed[-8] ^= 1
    assert kind(bytes(packed)) == "qwen-chat"


@pytest.mark.parametrize("pack", [lzma.compress, bz2.compress])
def test_other_packings_are_named_as_such(pack: Callable[[bytes], bytes]) -> None:
    assert "unpack it" in WHY_SKIPPED[kind(pack(LOG))]


@pytest.mark.parametrize("message", [b"\x0a\x05hello", zstd.compress(b'{"resourceLogs":[]}')])
def test_length_prefixed_frames_of_a_collector_are_told_from_other_binaries(message: bytes) -> None:
    frame = struct.pack(">I", len(message)) + message
    assert "format: json" in WHY_SKIPPED[kind(frame * 3, "traces.json")]
    assert kind(b"\x00\x00\x00\x00" + message) == "unknown"


def test_the_reason_is_told_again_without_opening_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "telemetry.log": b"\n",
        "b.jsonl": b"{}",
        "c.jsonl.gz": b"\x1f\x8b\x08",
        "d.json": b"\x00\x00\x00\x07\x0a\x05hello",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    first = make_plan(list(discover([tmp_path])), [tmp_path], {})
    expected = {
        str(tmp_path / name): WHY_SKIPPED[what]
        for name, what in zip(files, ("empty", "unknown", "unpackable", "otlp-frames"), strict=True)
    }
    assert {one.path: one.reason for one in first.skipped} == expected
    monkeypatch.setattr("ingest.plan.identify", None)
    again = make_plan(list(discover([tmp_path])), [tmp_path], {file.row.source_path: file.row for file in first.files})
    assert {one.path: one.reason for one in again.skipped} == expected
