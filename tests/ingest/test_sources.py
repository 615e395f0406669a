from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ingest.readers.acp_wire import AcpWireReader
from ingest.readers.card_events import CardEventsReader
from ingest.readers.otlp import OtlpJsonReader
from ingest.readers.qwen_chat import QwenChatReader
from ingest.readers.qwen_debug import QwenDebugReader
from ingest.readers.qwen_side import QwenAgentMetaReader, QwenLedgerReader, QwenRuntimeReader, QwenUsageReader
from ingest.readers.qwen_telemetry import QwenTelemetryReader
from ingest.readers.sse_events import SseEventsReader
from ingest.sources import HEAD_BYTES, READERS, Candidate, SkippedPath, default_roots, discover, recognise
from tests.ingest.readers.reading import DATA, SESSION, line, lines, problems, prompt, read, record

EXPECTED = {
    f"{SESSION}.jsonl": QwenChatReader,
    f"{SESSION}.ledger.jsonl": QwenLedgerReader,
    "7c717545-7775-4999-ab75-ab7c400df19f.runtime.json": QwenRuntimeReader,
    "agent-general-purpose-call_task.jsonl": QwenChatReader,
    "agent-general-purpose-call_task.meta.json": QwenAgentMetaReader,
    "usage_record.jsonl": QwenUsageReader,
    "telemetry.log": QwenTelemetryReader,
    "logs.json": OtlpJsonReader,
    "traces.json": OtlpJsonReader,
    "acp.jsonl": AcpWireReader,
    "events.sse": SseEventsReader,
    "desktop.ndjson": CardEventsReader,
    "aa742de9-380a-4103-a3d2-b7a2f9ff38e4.txt": QwenDebugReader,
}


def found(*roots: Path) -> list[Path]:
    return [one.path for one in discover(roots) if isinstance(one, Candidate)]


def skipped(*roots: Path) -> dict[str, str]:
    return {one.path.name: one.reason for one in discover(roots) if isinstance(one, SkippedPath)}


def log(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_recorded_file_is_recognised_by_content_alone() -> None:
    paths = found(DATA)
    assert sorted(path.name for path in paths) == sorted(EXPECTED)
    for path in paths:
        head = path.read_bytes()[:HEAD_BYTES]
        assert recognise(path, head) is EXPECTED[path.name]
        assert recognise(Path("/elsewhere/renamed"), head) is EXPECTED[path.name]


def test_no_two_readers_claim_one_file() -> None:
    assert set(EXPECTED.values()) == set(READERS)
    for path in found(DATA):
        others = [reader for reader in READERS if reader is not EXPECTED[path.name]]
        head = path.read_bytes()[:HEAD_BYTES]
        rest = [reader for reader in others if recognise(path, head) is reader]
        assert rest == []


def test_a_log_is_recognised_with_a_lost_header_a_mark_or_a_first_record_longer_than_the_head() -> None:
    path = Path("/x/y.jsonl")
    log_ = lines(prompt("u1"), prompt("u2"))
    assert recognise(path, b"\xef\xbb\xbf" + log_) is QwenChatReader
    assert recognise(path, b'd":"torn header"}\n' + log_) is QwenChatReader
    assert recognise(path, b"\x00" * 500 + b"\n" + log_) is QwenChatReader
    assert recognise(path, line(prompt("u1", "x" * HEAD_BYTES))[:HEAD_BYTES]) is QwenChatReader
    assert recognise(path, lines(record("u0", message="yes"), prompt("u1"))) is QwenChatReader


def test_a_line_of_a_side_file_before_it_does_not_hide_a_log() -> None:
    side = next(DATA.rglob("usage_record.jsonl")).read_bytes().splitlines()[0]
    assert recognise(Path("x.jsonl"), side + b"\n") is QwenUsageReader
    log = b"".join(line(prompt(f"u{number}")) + b"\n" for number in range(3))
    assert recognise(Path("x.jsonl"), side + b"\n" + log) is QwenChatReader


def test_telemetry_is_recognised_from_an_object_longer_than_the_head() -> None:
    text = (DATA / "telemetry.log").read_text()
    long = text.replace('"session.id"', f'"padding": "{"x" * HEAD_BYTES}",\n    "session.id"', 1).encode()
    assert recognise(Path("/x/anything"), long[:HEAD_BYTES]) is QwenTelemetryReader


@pytest.mark.parametrize(
    "value",
    [
        # Claude Code: the same frame, other content
        {"parentUuid": None, "isSidechain": False, "cwd": "/p", "sessionId": "s", "version": "2.1.0", "type": "user",
         "message": {"role": "user", "content": "hi"}, "uuid": "u", "timestamp": "2026-11-30T17:00:00.000Z"},
        {"timestamp": "2026-11-30T17:00:00.000Z", "type": "session_meta", "payload": {"id": "s"}},
        {"sessionId": "s", "projectHash": "h", "startTime": "t", "kind": "main"},
        {"type": "session", "version": 3, "id": "s", "cwd": "/p"},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}},
        {"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "glob"}}]}},
        {"resourceLogs": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "claude-code"}}]}}]},
        {"_spanContext": {}, "attributes": {"gen_ai.agent.name": "gemini-cli"}, "instrumentationScope": {"name": "gemini-cli"}},
        {"telemetry": {"enabled": True, "outfile": "/x"}, "model": {"name": "kimi-k3"}},
        [{"sessionId": "s", "messageId": 0, "type": "user", "message": "hello", "timestamp": "t"}],
    ],
)  # fmt: skip
def test_files_of_other_kinds_have_no_reader(value: object) -> None:
    for indent in (None, 2):
        assert recognise(Path("/x/chats/s.jsonl"), json.dumps(value, indent=indent).encode()) is None


@pytest.mark.parametrize(
    "head", [b"", b"\n", b"plain text {not json}", b"\x89PNG\r\n\x1a\n\x00", b"{", b"{" * 70_000, os.urandom(2000)]
)
def test_heads_of_any_kind_are_survived(head: bytes) -> None:
    assert recognise(Path("/x/y.log"), head) is None


def test_a_link_and_its_target_are_one_file_and_cycles_end(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    real = log(root / "b" / "one.jsonl")
    (root / "a-link.jsonl").symlink_to(real)
    (root / "b" / "cycle").symlink_to(root)
    (root / "c").symlink_to(root / "b")
    os.link(real, root / "same-inode.jsonl")
    assert found(root, root / "b") in ([real], [root / "same-inode.jsonl"])
    assert skipped(root) == {}


def test_a_link_out_of_the_root_is_followed_once(tmp_path: Path) -> None:
    outside = log(tmp_path / "elsewhere" / "two.jsonl")
    root = tmp_path / "logs"
    root.mkdir()
    (root / "x").symlink_to(tmp_path / "elsewhere")
    (root / "y.jsonl").symlink_to(outside)
    (candidate,) = discover([root])
    assert isinstance(candidate, Candidate)
    assert (candidate.path, candidate.root) == (outside, root)


def test_what_cannot_be_read_is_listed_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = log(tmp_path / "good.jsonl")
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    assert found(tmp_path, tmp_path / "missing") == [good]
    reasons = skipped(tmp_path, tmp_path / "missing")
    assert set(reasons) == {"broken.jsonl", "missing"}
    assert "not there" in reasons["broken.jsonl"]
    assert "no such file" in reasons["missing"]


def test_packed_logs_are_candidates(tmp_path: Path) -> None:
    packed = [log(tmp_path / name) for name in ("a.jsonl.gz", "b.jsonl.zst", "c.log.1.gz", "d.json.xz", "e.jsonl.bz2")]
    log(tmp_path / "photo.png.gz")
    assert found(tmp_path) == packed


def test_files_without_permission_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = log(tmp_path / "secret.jsonl")
    secret.chmod(0o200)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != secret)  # root may read everything
    assert skipped(tmp_path) == {"secret.jsonl": "no permission to read it"}


def test_which_names_may_be_logs(tmp_path: Path) -> None:
    taken = ["a.jsonl", "b.ndjson", "c.log", "d.json", "e.txt", "telemetry", "f.log.1", ".hidden/g.jsonl", "A.JSONL"]
    for name in taken:
        log(tmp_path / name)
    for name in ["x.png", "y.jsonl.orig", "z.py", ".git/h.log", "node_modules/p/i.json"]:
        log(tmp_path / name)
    assert sorted(str(path.relative_to(tmp_path)) for path in found(tmp_path)) == sorted(taken)


def test_a_file_given_by_its_path_is_a_candidate_whatever_its_name(tmp_path: Path) -> None:
    path = log(tmp_path / "out.telemetry-data")
    assert found(path) == [path]
    assert found(tmp_path) == []


def test_candidates_tell_what_changes_with_the_file(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", "12345")
    (before,) = discover([tmp_path])
    status = path.stat()
    assert before == Candidate(str(path), tmp_path, 5, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    path.write_text("123456")
    (after,) = discover([tmp_path])
    assert after != before


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.log"
    os.mkfifo(pipe)
    assert list(discover([tmp_path])) == []
    assert skipped(pipe) == {"pipe.log": "neither a file nor a folder"}


def test_default_roots_are_the_clients_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("QWEN_HOME", raising=False)
    monkeypatch.delenv("QWEN_RUNTIME_DIR", raising=False)
    assert default_roots() == [tmp_path / ".qwen"]
    monkeypatch.setenv("QWEN_HOME", str(tmp_path / ".qwen"))
    monkeypatch.setenv("QWEN_RUNTIME_DIR", "~/other")
    assert default_roots() == [tmp_path / ".qwen", tmp_path / "other"]


def test_a_recognised_file_gives_records_and_no_problem() -> None:
    for path in found(DATA):
        reader = recognise(path, path.read_bytes()[:HEAD_BYTES])
        assert reader is not None
        rows = read(reader, path.read_bytes(), str(path))
        assert rows
        assert problems(rows) == []
