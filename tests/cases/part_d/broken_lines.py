"""Lines that are not one record each, and bytes that are no text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.cases.case import FIRST, REPLAY, UNKNOWN
from tests.cases.damage_case import CHATS, DamageCase, Seen, changed, first, healthy_lines, whole
from tests.support.log_script import FinalAnswer, Log, Prompt, Use, answered

LF = b"\n"


def _case(
    name: str,
    reports: str,
    log: bytes,
    *problems: tuple[int, str, str],
    sees: Seen | None = None,
    status: str | None = None,
) -> DamageCase:
    return DamageCase(
        name=name,
        reports=reports,
        files={f"{CHATS}/{name}.jsonl": log},
        sessions=None if sees is None else {"": sees},
        problems=[(f"{name}.jsonl", *problem) for problem in problems],
        statuses={} if status is None else {f"{CHATS}/{name}.jsonl": status},
    )


def _two_on_one_line() -> DamageCase:
    name = "D1 two records on one line"
    lines = healthy_lines(name)
    lines[3:5] = [lines[3] + lines[4]]  # a call and what is told of it
    lines[3:5] = [lines[3] + lines[4]]  # and its result
    return _case(name, "qwen-code#3606, #3656, #3681", whole(lines), (4, "repaired", "3 records on one line"))


def _rest_of_an_older_record() -> DamageCase:
    name = "D3 the rest of another writer's record"
    lines = healthy_lines(name)
    other = changed(lines[3], uuid="other", timestamp="2026-12-01T10:00:01.500Z")
    # the result of the first call is older than the call by the clock: what counts is the place in the file
    lines[5] = changed(lines[5], timestamp="2026-12-01T10:00:02.000Z")
    lines.insert(5, other[40:])
    return _case(
        name,
        "anthropics/claude-code#20992",
        whole(lines),
        (6, "concurrent-writers", "two programs"),
        (6, "damaged", f"{len(other) - 40} bytes"),
    )


def _record_within_a_record(cut: int, rest: bytes) -> DamageCase:
    """Its answer stands within the record of a call; the call came first all the same."""
    name = f"D3 a record within another's, cut at {cut}, the rest behind {'a newline' if rest else 'it'}"
    lines = healthy_lines(name)
    call, _, result = lines[3:6]
    lines[3:6] = [call[:cut] + result + rest + call[cut:]]
    return _case(
        name,
        "anthropics/claude-code#20992: both are kept whole",
        whole(lines),
        (4, "concurrent-writers", "two programs"),
    )


def _nul_blocks() -> DamageCase:
    name = "D4 blocks of NUL"
    lines = healthy_lines(name)
    lines[3] += b"\0" * 9000
    lines.insert(10, b"\0" * 500)
    return _case(
        name,
        "claude-code#76059, #49876; justrach/codegraff#242; openclaw#119887",
        whole(lines) + b"\0" * 140_000,
        (4, "nul-block", "9000 NUL"),
        (11, "nul-block", "500 NUL"),
        (24, "nul-block", "140000 NUL"),
    )


def _byte_order_mark(newline: bytes) -> DamageCase:
    name = f"D7 byte order mark and {'LF' if newline == LF else 'CRLF'}"
    log = b"\xef\xbb\xbf" + whole(healthy_lines(name)).replace(b"\n", newline)
    return _case(name, "viggy28/recall#38, junhoyeo/tokscale#1134", log)


def _mark_before_the_first_call() -> DamageCase:
    name = "D7 byte order mark before the first call"
    twice = Use("sh_0", {"command": "make one"})
    lines = healthy_lines(name, Log((Prompt(), answered(twice), answered(twice), FinalAnswer())))
    first_call = first(lines, "assistant")
    return _case(
        name,
        "junhoyeo/tokscale#1134: with the first call lost, its replay would be a first use",
        b"\xef\xbb\xbf" + whole(lines[first_call:]),
        sees=Seen(classes=(FIRST, REPLAY), turns=1),
    )


def _huge_line(megabytes: int) -> DamageCase:
    name = f"D8 a line of {megabytes} MB"
    lines = healthy_lines(name)
    lines[5] = lines[5].replace(b'"output": "ok"', b'"output": "' + b"x\\n" * (megabytes * 1_000_000 // 3) + b'"')
    return _case(name, "kenn-io/agentsview#12, #20; thousandflowers/skillreaper#33; brizzai/fleet#222", whole(lines))


def _no_utf8_in_a_result() -> DamageCase:
    """No row: of a text that is only measured nothing is lost, and looking at every byte of it would cost half the reading."""
    name = "D9 bytes that are no UTF-8 in a result"
    lines = healthy_lines(name)
    lines[5] = lines[5].replace(b'"output": "ok"', b'"output": "caf\xe9 \xff"')
    return _case(name, "bozdemir/claude-usage-widget#5", whole(lines))


def _no_utf8_in_arguments() -> DamageCase:
    """What the client hashed is not there any more, so nobody can say whether the second call was a replay."""
    name = "D9 bytes that are no UTF-8 in arguments"
    twice = Use("sh_0", {"command": "make one"})
    lines = healthy_lines(name, Log((Prompt(), answered(twice), answered(twice), FinalAnswer())))
    second = first(lines, "assistant", 1)
    lines[second] = lines[second].replace(b"make one", b"make caf\xe9")
    return _case(
        name,
        "bozdemir/claude-usage-widget#5",
        whole(lines),
        (second + 1, "bad-utf8", "0xe9"),
        sees=Seen(classes=(FIRST, UNKNOWN), turns=1),
    )


def _lone_surrogates() -> DamageCase:
    """As the client writes them: escaped. Python's decoders differ over them, the fingerprint has them."""
    name = "D9 lone surrogates"
    twice = Use("sh_0", {"command": "echo \ud83d \udc00"})
    lines = healthy_lines(name, Log((Prompt(), answered(twice), answered(twice), FinalAnswer())))
    assert sum(b"\\ud83d" in line for line in lines) == 4
    return _case(name, "QWEN_CODE 8: logged as escapes", whole(lines), sees=Seen(classes=(FIRST, REPLAY), turns=1))


def _raw_separators() -> DamageCase:
    name = "D9 raw U+2028 and U+0085"
    lines = healthy_lines(name)
    separators = "a\u2028b\u2029c\u0085d\x7f".encode()
    lines[0] = lines[0].replace(b"please go on", separators)
    lines[3] = lines[3].replace(b"make one", separators)
    return _case(name, "recording k6_odd_values: 11 lines became 17", whole(lines))


def _raw_newline() -> DamageCase:
    name = "D19 a record over three lines"
    lines = healthy_lines(name)
    lines[5] = lines[5].replace(b'"output": "ok"', b'"output": "one\ntwo\nthree"')
    return _case(name, "github/copilot-cli#2649", whole(lines), (6, "repaired", "3 lines"))


def _raw_newline_in_arguments() -> DamageCase:
    """Two calls of one id: the one broken over lines, the other sound. Mended they are the same call."""
    name = "D19 arguments over three lines"
    twice = Use("sh_0", {"command": "make one\n\n  && make two"})
    lines = healthy_lines(name, Log((Prompt(), answered(twice), answered(twice), FinalAnswer())))
    first_call = first(lines, "assistant")
    lines[first_call] = lines[first_call].replace(b"\\n", b"\n")
    return _case(
        name,
        "github/copilot-cli#2649",
        whole(lines),
        (first_call + 1, "repaired", "3 lines"),
        sees=Seen(classes=(FIRST, REPLAY), turns=1),
    )


def _three_lines_beyond_repair() -> DamageCase:
    name = "D19 three lines beyond repair"
    lines = healthy_lines(name)
    event = lines[4]
    lines[4:5] = [event[:60], b"two", event[-25:]]
    return _case(
        name,
        "github/copilot-cli#2649: one damage for three lines, and the next record stands",
        whole(lines),
        (5, "damaged", "3 lines"),
    )


def _trailing_garbage() -> DamageCase:
    name = "D23 garbage behind a record"
    lines = healthy_lines(name)
    lines[3] += b"TRAILER"
    lines[5] += b'{"a":'
    return _case(
        name,
        "duckdb/duckdb#23120",
        whole(lines),
        (4, "trailing-garbage", "7 bytes"),
        (6, "trailing-garbage", "5 bytes"),
    )


def _foreign_lines() -> DamageCase:
    name = "D other JSON between the records"
    lines = healthy_lines(name)
    lines[6:6] = [json.dumps(value).encode() for value in ({"level": "info"}, {"type": 7}, {})]
    lines.insert(12, b"plain text")
    return _case(
        name,
        "a program's own output in the log",
        whole(lines),
        (7, "foreign-record", "3 lines"),
        (13, "damaged", "10 bytes"),
    )


def _torn_tail(kept: int) -> DamageCase:
    name = f"F3 a last record of which {kept} bytes are written"
    lines = healthy_lines(name)
    return _case(
        name,
        "r-spade/ormah#33, letta-code#3590: no damage yet, and the turn still runs or was cut",
        whole(lines[:-1]) + lines[-1][:kept],
        sees=Seen(verdict="truncated"),
        status="tail-pending",
    )


BROKEN_LINES: Sequence[DamageCase] = (
    _two_on_one_line(),
    _rest_of_an_older_record(),
    *(_record_within_a_record(cut, rest) for cut in (10, 100, 300) for rest in (b"", b"\n")),
    _nul_blocks(),
    _byte_order_mark(LF),
    _byte_order_mark(b"\r\n"),
    _mark_before_the_first_call(),
    _huge_line(12),
    _no_utf8_in_a_result(),
    _no_utf8_in_arguments(),
    _lone_surrogates(),
    _raw_separators(),
    _raw_newline(),
    _raw_newline_in_arguments(),
    _three_lines_beyond_repair(),
    _trailing_garbage(),
    _foreign_lines(),
    _torn_tail(1),
    _torn_tail(200),
)
