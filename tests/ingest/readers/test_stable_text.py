"""What is taken for volatile in an answer. Each pair is an answer as two runs of one command give it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.stable_text import same_but_for_volatile, stable_text

SHA, OTHER_SHA = "0123456789abcdef" * 4, "fedcba9876543210" * 4


def _answer(output: str) -> bytes:
    return json.dumps({"output": output}).encode()


def _stub(path: str, digest: str) -> str:
    return f"Tool output was too large and has been truncated\nFull output sha256: {digest}\nThe full output is at: {path}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Output: ok\nProcess Group PGID: 30756", "Output: ok\nProcess Group PGID: 9"),
        ("Output: ok\nProcess Group PGID: 30756", "Output: ok\nProcess Group PGID: (none)"),
        ('{"state":"up","durationMs":12,"pid":4711}', '{"state":"up","durationMs":130,"pid":12}'),
        ("12 passed in 3.42s", "12 passed in 12.05s"),
        ("Time: 3 ms", "Time: 250 ms"),
        ("pgid: 30756", "pgid: 9"),
        ("real\t0m1.250s", "real\t0m0.998s"),
        ("at 2026-11-30T17:46:45.038Z: refused", "at 2026-11-30T17:46:47.068Z: refused"),
        ("2026-11-30 17:46:45,038 refused", "2026-11-30 17:46:47,100 refused"),
        ("two lines\n17:46:45 refused\npid: 3", "two lines\n17:46:47 refused\npid: 4"),
        ("[17:46:45] refused", "[17:46:47] refused"),
        ("seen 5 minutes ago", "seen 6 minutes ago"),
        ("stamp=1796061863386", "stamp=1796061870001"),
        ("request 0d865a3c-1111-4222-8333-123456789abc", "request 9f00aa11-2222-4333-9444-cba987654321"),
        ("log kept in /tmp/tmp.Xy12Zq/out.log", "log kept in /tmp/tmp.Ab98Kd/out.log"),
        (_stub("/home/u/.qwen/tmp/p/call_1.output", SHA), _stub("/home/u/.qwen/tmp/p/call_27.output", SHA)),
        (_stub("C:\\Users\\u\\tmp\\call_1.output", SHA), _stub("C:\\Users\\u\\tmp\\call_27.output", SHA)),
    ],
)
def test_two_runs_are_alike(one: str, other: str) -> None:
    assert same_but_for_volatile(_answer(one), _answer(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 of 7 done", "4 of 7 done"),
        ("progress 45%", "progress 46%"),
        ("step2", "step3"),
        ("report-2026-11-29.txt", "report-2026-11-30.txt"),
        ("/tmp/made/part-1", "/tmp/made/part-2"),
        ("src/app.py:10:20: error", "src/app.py:11:20: error"),
        ("version 1.25", "version 1.26"),
        ("commit 1796061863386abc", "commit 1796061870001abc"),
        (_stub("/home/u/.qwen/tmp/p/call_1.output", SHA), _stub("/home/u/.qwen/tmp/p/call_27.output", OTHER_SHA)),
        (f"/x/call_1.output\nsha256:{SHA}", f"/x/call_2.output\nsha256:{OTHER_SHA}"),
    ],
)
def test_progress_is_kept(one: str, other: str) -> None:
    assert not same_but_for_volatile(_answer(one), _answer(other))


WORDS = st.sampled_from(
    [
        *("\n", "\n", "\\", "\\n", "\t", '"', " ", "pid: 7", "PGID 8", "took ", "12", "3", "3.4s", "17:46:45", "2026-11-30 "),
        *("C:\\new\\call_1", "C:\\new\\call_2", "/tmp/call_1", "/tmp/call_2", "sha256: " + SHA, "ok"),
        "0d865a3c-1111-4222-8333-123456789abc",
    ]
)


@given(st.lists(WORDS, max_size=12), st.integers(0, 11), WORDS)
def test_line_by_line_is_as_whole(words: list[str], at: int, other: str) -> None:
    one, two = _answer("".join(words)), _answer("".join([*words[:at], other, *words[at + 1 :]]))
    assert same_but_for_volatile(one, two) == (stable_text(one) == stable_text(two))
