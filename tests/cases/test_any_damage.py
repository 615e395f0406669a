"""Any damage at any place of a recorded log loses the damaged record at most, is told, and decides nothing else.

What a damaged log has to give is known without looking at the damage: the findings of the sound log, or, where a record was
destroyed, those of the log from which its line was taken out cleanly.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.fingerprint import fingerprint
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import AnyRecord, CardEvent, Problem, Response, Result, SessionFacts, SourceRecord
from ingest.store.copies import merge
from tests.support.examples import EXAMPLES

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"
LOGS = [
    path
    for path in sorted(RECORDINGS.rglob("*.jsonl"))
    if (path.parent.name == "chats" and ".ledger" not in path.name) or path.name.startswith("agent-")
]
OTHER = RECORDINGS.parents[1] / "tests/ingest/data/projects/demo/chats/7a27773e-ad36-4e19-8957-1fb48c987ea4.jsonl"
TIMESTAMP = re.compile(rb'"timestamp":"([^"]+)"')
EVIDENCE = frozenset(("source_path", "source_line", "byte_offset", "line", "evidence"))

Lines = list[bytes]


def read(log: bytes, path: Path) -> tuple[list[AnyRecord], list[Problem]]:
    reader = QwenChatReader(str(path), fingerprint)
    rows = [*reader.feed(log), *reader.finish()]
    records = [row for row in rows if not isinstance(row, Problem | CardEvent)]
    return sorted(records, key=lambda record: record.place.offset), [row for row in rows if isinstance(row, Problem)]


def findings(*copies: Sequence[AnyRecord]) -> dict[str, Any]:
    """Of each session, without the places that show them."""
    by_session: dict[str, dict[int, list[AnyRecord]]] = defaultdict(lambda: defaultdict(list))
    for number, copy in enumerate(copies):
        for record in copy:
            by_session[record.session_id][number].append(record)
    found: dict[str, Any] = {}
    for session_id, by_copy in by_session.items():
        parent, is_sub_agent, _ = session_id.partition("/agent-")
        facts = SessionFacts(
            session_id=session_id,
            kind="sub-agent" if is_sub_agent else "main",
            parent_session_id=parent if is_sub_agent else None,
            client="qwen-code",
            records=tuple(record for record in merge(list(by_copy.values())).records if not isinstance(record, CardEvent)),
            events=(),
        )
        found[session_id] = _without_evidence(msgspec.to_builtins(analyse(facts), builtin_types=(bytes,)))
    return found


def _without_evidence(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_evidence(member) for name, member in value.items() if name not in EVIDENCE}
    return [_without_evidence(item) for item in value] if isinstance(value, list) else value


def lines_of(path: Path) -> Lines:
    return path.read_bytes().split(b"\n")[:-1]


def joined(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


# Nothing is lost. Each takes the lines, the index of one, and a place within that line; None: not on this line.


def two_on_one_line(lines: Lines, at: int, within: int) -> bytes | None:
    return joined([*lines[:at], lines[at] + lines[at + 1], *lines[at + 2 :]]) if at + 1 < len(lines) else None


def nul_block_behind(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[:at], lines[at] + b"\0" * within, *lines[at + 1 :]])


def nul_line(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[:at], b"\0" * within, *lines[at:]])


def nul_tail(lines: Lines, at: int, within: int) -> bytes:
    return joined(lines) + b"\0" * within


def mark_and_carriage_returns(lines: Lines, at: int, within: int) -> bytes:
    return b"\xef\xbb\xbf" + joined(lines).replace(b"\n", b"\r\n")


def raw_newline_between_members(lines: Lines, at: int, within: int) -> bytes:
    comma = lines[at].index(b',"', lines[at].index(b'"uuid"')) + 1
    return joined([*lines[:at], lines[at][:comma], lines[at][comma:], *lines[at + 1 :]])


def raw_newlines_in_strings(lines: Lines, at: int, within: int) -> bytes | None:
    raw = lines[at].replace(b"\\\\", b"\0").replace(b"\\n", b"\n").replace(b"\0", b"\\\\")
    return joined([*lines[:at], raw, *lines[at + 1 :]]) if raw != lines[at] else None


def another_writers_record_within(lines: Lines, at: int, within: int) -> bytes:
    """One of another session: of the same one it would stand in another order than it was written in."""
    other = lines_of(OTHER)[0]
    return joined([*lines[:at], lines[at][:within] + other, lines[at][within:], *lines[at + 1 :]])


def garbage_behind(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[:at], lines[at] + b"TRAILER" * within, *lines[at + 1 :]])


def foreign_lines(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[:at], b'{"level":"info","uuid":7}', b"", b"plain text", *lines[at:]])


def written_again(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[: at + 1], *lines])


def time_in_milliseconds(lines: Lines, at: int, within: int) -> bytes:
    written = TIMESTAMP.search(lines[at])
    assert written is not None
    milliseconds = round(datetime.fromisoformat(written[1].decode()).timestamp() * 1000)
    return joined([*lines[:at], TIMESTAMP.sub(b'"timestamp":%d' % milliseconds, lines[at], count=1), *lines[at + 1 :]])


LOSSLESS: tuple[Callable[[Lines, int, int], bytes | None], ...] = (
    two_on_one_line,
    nul_block_behind,
    nul_line,
    nul_tail,
    mark_and_carriage_returns,
    raw_newline_between_members,
    raw_newlines_in_strings,
    another_writers_record_within,
    garbage_behind,
    foreign_lines,
    written_again,
    time_in_milliseconds,
)
UNTOLD = (mark_and_carriage_returns, written_again, time_in_milliseconds)
"""No damage: these give no problem."""

# The record at the index is lost.


def nul_within(lines: Lines, at: int, within: int) -> bytes:
    line = lines[at]
    return joined([*lines[:at], line[:within] + b"\0" * 20 + line[within + 20 :], *lines[at + 1 :]])


def cut_short(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[:at], lines[at][:within], *lines[at + 1 :]])


def cut_short_and_written_on(lines: Lines, at: int, within: int) -> bytes:
    return joined(lines[:at]) + lines[at][:within] + joined(lines[at + 1 :])


def beginning_lost(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[:at], lines[at][within:], *lines[at + 1 :]])


def overwritten(lines: Lines, at: int, within: int) -> bytes:
    return joined([*lines[:at], b"\x80}]" * within, *lines[at + 1 :]])


DESTRUCTIVE = (nul_within, cut_short, cut_short_and_written_on, beginning_lost, overwritten)


@pytest.mark.parametrize("damage", LOSSLESS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_damage_that_leaves_every_byte_changes_no_finding(
    damage: Callable[[Lines, int, int], bytes | None], data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(LOGS))
    lines = lines_of(path)
    at = data.draw(st.integers(0, len(lines) - 1))
    log = damage(lines, at, data.draw(st.integers(1, len(lines[at]) - 1)))
    if log is None:
        return
    sound, _ = read(joined(lines), path)
    damaged, problems = read(log, path)
    expected = findings(sound)
    assert {session_id: found for session_id, found in findings(damaged).items() if session_id in expected} == expected
    if damage in UNTOLD:
        assert problems == []
    else:
        assert problems
        assert all(at <= problem.line - 1 <= at + 2 for problem in problems) or damage is nul_tail


@pytest.mark.parametrize("damage", DESTRUCTIVE)
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_damage_that_destroys_a_record_is_as_if_its_line_were_missing(
    damage: Callable[[Lines, int, int], bytes], data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(LOGS))
    lines = lines_of(path)
    at = data.draw(st.integers(0, len(lines) - 1))
    log = damage(lines, at, data.draw(st.integers(1, len(lines[at]) - 1)))
    remaining, _ = read(joined([*lines[:at], *lines[at + 1 :]]), path)
    damaged, problems = read(log, path)
    assert {record.uuid for record in damaged} == {record.uuid for record in remaining}
    assert findings(damaged) == findings(remaining)
    assert any(at <= problem.line - 1 <= at + 1 for problem in problems)


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_copy_cut_anywhere_changes_nothing_whichever_is_read_first(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(LOGS))
    log = path.read_bytes()
    sound, _ = read(log, path)
    older, _ = read(log[: data.draw(st.integers(0, len(log)))], Path("/backup") / path.name)
    copies = data.draw(st.permutations([sound, older]))
    assert findings(*copies) == findings(sound)


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_what_one_copy_lost_the_other_has(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for path in LOGS if len(lines_of(path)) > 3]))
    lines = lines_of(path)
    copies = []
    for lost in data.draw(st.lists(st.integers(0, len(lines) - 2), min_size=2, max_size=2, unique=True)):
        copies.append(read(cut_short(lines, lost, 5), path)[0])
    merged = merge(copies)
    assert [_content(record) for record in merged.records] == [_content(record) for record in read(joined(lines), path)[0]]
    assert merged.divergent == ()


def _content(record: SourceRecord) -> SourceRecord:
    """Without what is known by the records before it in its own file."""
    if isinstance(record, Result):
        return replace(record, stable_digest=None)
    return replace(record, round_key=None) if isinstance(record, Response) else record
