from __future__ import annotations

import os
from pathlib import Path

from ingest.plan import make_plan, stored_path
from ingest.sources import Candidate, SkippedPath, discover
from ingest.store.sources import SourceRow

TEXT = (
    '{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-11-30T17:46:22.331Z","type":"user",'
    '"message":{"role":"user","parts":[{"text":"hi"}]}}\n'
)


def plan_of(root: Path, known: dict[str, SourceRow] | None = None) -> tuple[list[str], list[str], int]:
    """Paths to write a row of, statuses, and how many are unchanged."""
    plan = make_plan(list(discover([root])), [root], known or {})
    return [f.row.source_path for f in plan.files], [f.row.status for f in plan.files], len(plan.unchanged)


def known_after(root: Path) -> dict[str, SourceRow]:
    return {f.row.source_path: f.row for f in make_plan(list(discover([root])), [root], {}).files}


def test_new_files_are_numbered_after_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(TEXT)
    known = known_after(tmp_path)
    (tmp_path / "b.jsonl").write_text(TEXT)
    plan = make_plan(list(discover([tmp_path])), [tmp_path], known)
    assert [(f.row.source_path, f.row.source_id, f.before) for f in plan.files] == [(str(tmp_path / "b.jsonl"), 2, None)]


def test_a_later_reader_version_reads_again(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    known = known_after(tmp_path)
    assert plan_of(tmp_path, known)[0] == []
    known[str(tmp_path / "a.jsonl")].reader_version += 1
    assert plan_of(tmp_path, known)[0] == [str(tmp_path / "a.jsonl")]


def test_a_path_that_is_no_utf8_is_kept_readable_and_found_again(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    path.write_text(TEXT)
    assert stored_path(path) == f"{tmp_path}/caf\\udce9.jsonl"
    known = known_after(tmp_path)
    assert list(known) == [f"{tmp_path}/caf\\udce9.jsonl"]
    assert plan_of(tmp_path, known) == ([], [], 1)


def test_an_inode_of_64_bits_fits_its_column(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(TEXT)
    file = Candidate(str(path), tmp_path, len(TEXT), 1, 2, 2**64 - 5)
    known = {f.row.source_path: f.row for f in make_plan([file], [tmp_path], {}).files}
    assert known[str(path)].inode < 2**63
    assert make_plan([file], [tmp_path], known).unchanged == [known[str(file.path)].source_id]


def test_a_compressed_log_has_a_row_that_says_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"\x1f\x8b")
    assert plan_of(tmp_path)[:2] == ([str(tmp_path / "a.jsonl.gz")], ["skipped"])
    assert plan_of(tmp_path, known_after(tmp_path))[0] == []


def test_what_is_behind_a_closed_door_is_not_gone(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_text(TEXT)
    known = known_after(tmp_path)
    (folder / "a.jsonl").unlink()
    closed = SkippedPath(folder, "permission denied")
    assert make_plan([closed], [tmp_path], known).gone == []
    assert make_plan([], [tmp_path], known).gone == [1]


def test_a_root_without_its_last_letter_is_another_folder(tmp_path: Path) -> None:
    (tmp_path / "logs2").mkdir()
    (tmp_path / "logs2" / "a.jsonl").write_text(TEXT)
    known = known_after(tmp_path / "logs2")
    (tmp_path / "logs2" / "a.jsonl").unlink()
    assert make_plan([], [tmp_path / "logs"], known).gone == []
