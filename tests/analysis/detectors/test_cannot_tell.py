"""What looks like a loop where the arguments are not whole is `unknown`, and said to be."""

from __future__ import annotations

import json

from msgspec.structs import replace

from analysis.analyse import analyse
from tests.analysis.detectors.shapes import READ
from tests.support.loop_log import Did, LoopLog
from tests.support.session_log import call


def _cut_reads(times: int, length: int = 100) -> LoopLog:
    """CASES B11: the log holds the arguments as text, cut before the offset."""
    log = LoopLog().asked()
    for number in range(times):
        name = f"call_{number}"
        whole = json.dumps({"absolute_path": "/srv/data/" + "x" * 120, "offset": number * 100})
        cut = json.dumps(whole[:length])
        log.response(replace(call(name, tool=READ), args_json=cut, args_bytes=len(cut))).answer(name, tool=READ)
    return log.done()


def test_reads_cut_before_their_offset() -> None:
    found = analyse(_cut_reads(8).facts())
    assert [(row.kind, row.confidence, row.severity) for row in found.findings] == [("cannot-tell-loop", "unknown", 6)]
    assert "8 calls of read_file in a row look alike" in found.findings[0].reason
    assert "fingerprint is unreliable: arguments cut at 100 characters" in found.findings[0].reason
    assert found.turns[0].looping is None


def test_four_say_nothing() -> None:
    assert analyse(_cut_reads(4).facts()).findings == []


def test_redacted_arguments() -> None:
    log = LoopLog().asked()
    for _ in range(5):
        log.did(Did({"absolute_path": "[REDACTED]"}, tool=READ))
    (row,) = analyse(log.done().facts()).findings
    assert (row.kind, "arguments redacted" in row.reason) == ("cannot-tell-loop", True)


def test_whole_arguments_are_a_loop_and_no_doubt() -> None:
    log = LoopLog().asked()
    for _ in range(5):
        log.did(Did({"absolute_path": "/p/a"}, tool=READ))
    assert [row.kind for row in analyse(log.done().facts()).findings] == ["identical-in-a-row"]
