"""Files that grow while they are watched: what is read in pieces is, row for row, what one reading of the whole gives."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ingest.identify import identify
from ingest.readers.base import Reader
from ingest.reading import Outcome, ToRead, read_group
from ingest.records import Result, SourceRecord
from ingest.store.record_pack import unpack
from tests.ingest.readers.reading import call, line, prompt, response, result
from tests.ingest.toy_run import ToyAnalysis

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"
FILES = sorted(path for path in RECORDINGS.rglob("*") if path.is_file())

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def any_size_is_worth_a_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.growth.WORTH_MARKING", 1)


def reader_of(path: Path) -> type[Reader] | None:
    with path.open("rb", buffering=0) as stream:
        return identify(path, stream)[0]


def read(file: ToRead) -> tuple[Outcome, Rows]:
    group = read_group([file], ToyAnalysis())
    rows = {table: [row for batch in batches for row in batch.to_pylist()] for table, batches in group.columns.items()}
    return group.outcomes[0], rows


def records(rows: Rows) -> list[SourceRecord]:
    return [record for row in rows["fact_log"] for record in unpack(row["packed"])]


def joined(before: Rows, outcome: Outcome, new: Rows) -> Rows:
    """As the store does it: from its beginning on, the new reading replaces the old one."""
    rows: Rows = {}
    for table in before.keys() | new.keys():
        place, first = ("byte_offset", outcome.first_byte) if table == "fact_problem" else ("first_seq", outcome.first_record)
        kept = [row for row in before.get(table, ()) if row[place] < first]
        if kept or new.get(table):
            rows[table] = [*kept, *new.get(table, ())]
    return rows


def in_order(rows: Rows) -> dict[str, list[Any]]:
    """What is told, in however many pieces."""
    return {
        "problems": sorted(rows.get("fact_problem", ()), key=repr),
        "records": sorted(map(repr, records(rows))) if "fact_log" in rows else [],
        "times": sorted((row["tool"], row["duration_ms"]) for row in rows.get("fact_tool_time", ())),
    }


def grow(path: Path, whole: bytes, cuts: Sequence[int], reader: type[Reader]) -> tuple[Outcome, Rows, int]:
    """The last outcome, all rows, and how often reading went on instead of beginning anew."""
    file = ToRead(1, str(path), str(path), 1, reader)
    outcome, rows, went_on = Outcome(1), Rows(), 0
    for cut in [*cuts, len(whole)]:
        path.write_bytes(whole[:cut])
        outcome, new = read(replace(file, mark=outcome.mark))
        rows = joined(rows, outcome, new)
        went_on += outcome.first_byte > 0
    return outcome, rows, went_on


def comparable(outcome: Outcome) -> Outcome:
    """But for what was read this time only."""
    return replace(outcome, first_byte=0, first_record=0, calls=0, problems=0)


def some_cuts(generator: random.Random, size: int) -> list[int]:
    return sorted(generator.randrange(size + 1) for _ in range(generator.randrange(1, 6)))


@pytest.mark.parametrize("version", sorted({path.relative_to(RECORDINGS).parts[0] for path in FILES}))
def test_every_recorded_file_in_pieces_is_what_it_is_at_once(version: str, tmp_path: Path) -> None:
    generator = random.Random(version)
    formats: dict[str, int] = {}
    for source in FILES:
        if source.relative_to(RECORDINGS).parts[0] != version or (reader := reader_of(source)) is None:
            continue
        whole = source.read_bytes()
        path = tmp_path / source.name
        path.write_bytes(whole)
        at_once = read(ToRead(1, str(path), str(path), 1, reader))
        for _ in range(4):
            cuts = some_cuts(generator, len(whole))
            outcome, rows, went_on = grow(path, whole, cuts, reader)
            assert in_order(rows) == in_order(at_once[1]), (source, cuts)
            assert comparable(outcome) == comparable(at_once[0]), (source, cuts)
            formats[reader.format] = formats.get(reader.format, 0) + went_on
        path.unlink()
    assert formats["qwen-chat"] > 5, "it went on instead of beginning anew"
    assert formats.get("qwen-telemetry", 1) > 0


DAMAGES: Mapping[str, bytes] = {
    "two records on one line": line(prompt("d1")) + line(prompt("d2")) + b"\n",
    "a record inside another": line(prompt("d1"))[:70] + line(prompt("d2")) + line(prompt("d1"))[70:] + b"\n",
    "a second writer": line(prompt("d1"))[:60] + line(prompt("d2")) + b"\n",
    "raw newlines": line(prompt("d1", "a@b@c")).replace(b"@", b"\n") + b"\n",
    "NULs": line(prompt("d1")) + b"\0" * 300 + b"\n" + b"\0" * 20 + b"\n",
    "no JSON": b"not JSON\n" * 3,
    "foreign records": b'{"type":"summary"}\n' * 2,
    "garbage behind": line(prompt("d1")) + b"TRAILER\n",
    "no UTF-8": line(prompt("d1", "caf@")).replace(b"@", b"\xe9") + b"\n",
    "blank lines": b"\n\r\n  \n",
    "a number no column holds": line(response("d1", usageMetadata={"promptTokenCount": 10**30})) + b"\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_at_any_place_reads_the_same_in_pieces(damage: str, tmp_path: Path) -> None:
    """Cut at every byte of the damage, where what is broken and what is only unfinished look alike."""
    before = b"".join(line(prompt(f"u{number}")) + b"\n" for number in range(3))
    after = b"".join(line(response(f"v{number}")) + b"\n" for number in range(3))
    whole = before + DAMAGES[damage] + after
    from ingest.readers.qwen_chat import QwenChatReader

    path = tmp_path / "log.jsonl"
    path.write_bytes(whole)
    at_once = read(ToRead(1, str(path), str(path), 1, QwenChatReader))
    assert at_once[0].records >= 6
    for cut in range(len(before), len(before) + len(DAMAGES[damage]) + 1):
        outcome, rows, _ = grow(path, whole, [cut], QwenChatReader)
        assert in_order(rows) == in_order(at_once[1]), whole[cut - 30 : cut]
        assert comparable(outcome) == comparable(at_once[0])


def chat_log() -> Path:
    return next(path for path in FILES if "chats" in path.parts and path.stat().st_size > 8000 and "ledger" not in path.name)


def rewritten(whole: bytes) -> Iterator[tuple[str, bytes]]:
    yield "its first record", whole.replace(whole[9:17], b"00000000", 1)
    yield "cut short and written on", whole[: len(whole) // 3] + whole[len(whole) // 3 + 7 :] + whole
    yield "another file", os.urandom(len(whole) * 2)
    yield "shorter", whole[: len(whole) // 2]


@pytest.mark.parametrize(
    ("what", "content"), list(rewritten(chat_log().read_bytes())), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_mark_does_not_hold_where_the_earlier_bytes_are_others(what: str, content: bytes, tmp_path: Path) -> None:
    from ingest.readers.qwen_chat import QwenChatReader

    path = tmp_path / "log.jsonl"
    path.write_bytes(chat_log().read_bytes())
    file = ToRead(1, str(path), str(path), 1, QwenChatReader)
    mark = read(file)[0].mark
    assert mark is not None
    path.write_bytes(content)
    again = read(replace(file, mark=mark))
    assert again[0].first_byte == 0
    assert again == read(file)


def test_what_is_read_again_is_the_new_part_only(tmp_path: Path) -> None:
    from ingest.readers.qwen_chat import QwenChatReader

    whole = chat_log().read_bytes()
    lines = whole.splitlines(keepends=True)
    path = tmp_path / "log.jsonl"
    torn = b"".join(lines[:6]) + lines[6][:40]
    path.write_bytes(torn)
    file = ToRead(1, str(path), str(path), 1, QwenChatReader)
    first, _ = read(file)
    assert (first.torn, first.read_bytes) == (True, len(torn) - 40)
    path.write_bytes(whole)
    outcome, new = read(replace(file, mark=first.mark))
    assert outcome.first_byte == len(torn) - 40
    assert min(record.place.offset for record in records(new)) == len(torn) - 40
    assert not outcome.torn


def test_a_small_file_is_not_worth_a_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ingest.readers.qwen_chat import QwenChatReader

    path = tmp_path / "log.jsonl"
    path.write_bytes(chat_log().read_bytes())
    file = ToRead(1, str(path), str(path), 1, QwenChatReader)
    monkeypatch.setattr("ingest.growth.WORTH_MARKING", path.stat().st_size + 1)
    assert read(file)[0].mark is None
    monkeypatch.setattr("ingest.growth.WORTH_MARKING", path.stat().st_size)
    assert read(file)[0].mark is not None


@pytest.mark.parametrize("broken", [None, 1, 3], ids=["sound", "its second answer broken", "its fourth answer broken"])
def test_answers_are_known_again_from_before_the_cut(broken: int | None, tmp_path: Path) -> None:
    """Answers alike but for a process id: what the reader compares with stands before the place where it goes on."""
    from ingest.readers.qwen_chat import QwenChatReader

    outputs = ("done", "done", "done", "not done", "done")
    answers = [f"{output}\nProcess Group PGID: {4000 + number}" for number, output in enumerate(outputs)]
    log = [line(prompt("u"))]
    for number, output in enumerate(answers):
        log.append(line(response(f"r{number}", call(f"c{number}", command="make test"))))
        told = line(result(f"a{number}", f"c{number}", {"output": output}))
        log.append(told.replace(b',"message"', b',\n"message"', 1) if number == broken else told)
    whole = b"\n".join([*log, b""])
    path = tmp_path / "log.jsonl"
    path.write_bytes(whole)
    at_once = read(ToRead(1, str(path), str(path), 1, QwenChatReader))[1]
    results = [record for record in records(at_once) if isinstance(record, Result)]
    digests = [result.stable_digest for result in results]
    assert len(set(digests)) == 2
    assert len({result.digest for result in results}) == len(answers)
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 0x0A]
    for first in ends:
        for cuts in ([first], [first, (first + len(whole)) // 2]):
            _, rows, went_on = grow(path, whole, cuts, QwenChatReader)
            assert in_order(rows) == in_order(at_once), cuts
    assert went_on
