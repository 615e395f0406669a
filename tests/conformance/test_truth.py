"""The table is read as its own legend says, and the JSON beside the recordings says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.truth import RecordingTruth, TurnTruth, read_truth

HEAD = "| scenario | version | calls | end | telemetry |\n|---|---|---|---|---|\n"


def _only_row(folder: Path, row: str) -> RecordingTruth:
    table = folder / "EXPECTED.md"
    table.write_text(HEAD + row + "\n", "utf-8")
    (truth,) = read_truth(table)
    return truth


def test_prompts_responses_and_parallel_calls(tmp_path: Path) -> None:
    row = r"| f_x.acp | 0.24.4 | ok dup+ok skip+skip \| dup | LOOP_DETECTED,end_turn | evt:global_tool_call_duplicate |"
    assert _only_row(tmp_path, row) == RecordingTruth(
        name="0.24.4/f_x.acp",
        entry_point="acp",
        turns=(
            TurnTruth((("ok",), ("dup", "ok"), ("skip", "skip")), "stopped-visibly", tripped=True),
            TurnTruth((("dup",),), "completed", tripped=False),
        ),
        sub_agents=(),
        loop_events=("global_tool_call_duplicate",),
    )


@pytest.mark.parametrize(
    ("row", "verdicts"),
    [
        ("| b_x | 0.21.10 | ok dup open | rc1 | span:ok |", ["stopped-visibly"]),
        ("| b_x.tui | 0.24.4 | ok dup open |  | span:cancelled |", ["stopped-visibly"]),
        ("| b_x.acp | 0.21.10 | ok dup open | end_turn | span:ok |", ["silent-hang"]),
        ("| b_x.serve | 0.21.10 | ok dup open |  | span:ok |", ["silent-hang"]),
        ("| b_x.serve | 0.24.4 | ok dup skip <turn_result> |  | |", ["stopped-visibly"]),
        ("| h_x.acp | 0.21.10 | ok dup open \\| ok | end_turn,end_turn | |", ["silent-hang", "completed"]),
        ("| g5_x | 0.24.4 | ok | KILL |  |", ["truncated"]),
        ("| h8_x | 0.24.4 | ok open \\| ok dup | KILL,rc0 | |", ["truncated", "completed"]),
        ("| h8_x | 0.24.4 | ok dup open \\| ok | KILL,rc0 | |", ["truncated", "completed"]),
        ("| i_x | 0.24.4 | ok ok | rc1 | evt:consecutive_identical_tool_calls |", ["stopped-visibly"]),
        ("| i_identical_unique_ids.otlp | 0.24.4 | ok ok | rc1 | |", ["stopped-visibly"]),
        ("| i_identical_unique_ids | 0.15.10 | ok ok | rc0 | |", ["completed"]),
        ("| g8_http_500 | 0.24.4 | ok | rc1 | |", ["provider-error"]),
        ("| c2_x | 0.24.4 |  | rc0 | |", [None]),
        ("| c4_x | 0.24.4 | ok | rc0 | |", ["completed"]),
        ("| h3_x | 0.15.10 | ok \\| \\| | rc0,rc0,rc0 | |", ["completed"] * 3),
    ],
)
def test_verdicts_follow_the_rules_above_the_table(tmp_path: Path, row: str, verdicts: list[str | None]) -> None:
    assert [turn.verdict for turn in _only_row(tmp_path, row).turns] == verdicts


def test_an_unknown_word_is_an_error_and_no_call(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"0\.24\.4/a_x: unknown outcome oops"):
        _only_row(tmp_path, "| a_x | 0.24.4 | ok oops | rc0 | |")
