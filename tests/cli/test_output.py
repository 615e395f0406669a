"""The forms of an answer, and that nothing which a log says reaches a terminal as more than text."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from analysis.queries import Rows
from cli import output
from tests.cli.conftest import Loopscope
from tests.support.found_rows import finding, publish, session

HOSTILE = "\x1b[31mred\x1b[0m [bold]rm[/bold] \u202eevil\u2066 a\nb\rc \x9b2J \x07"


def written(capsys: pytest.CaptureFixture[str], form: output.Format, *rows: tuple[object, ...]) -> str:
    columns = [f"c{number}" for number in range(len(rows[0]) if rows else 1)]
    output.write(form, Rows(columns, list(rows)))
    return capsys.readouterr().out


def test_json_values(capsys: pytest.CaptureFixture[str]) -> None:
    two_hours_on = timezone(timedelta(hours=2))
    values = (
        datetime(2026, 11, 30, 17, 44, 38, 872000),
        datetime(2026, 11, 30, 19, 44, tzinfo=two_hours_on),
        date(2026, 11, 30),
        timedelta(minutes=1),
        Decimal("2"),
        Decimal("2.5"),
        float("nan"),
        b"\x00\xff",
        ["a", None],
        {"k": [1]},
        True,
        None,
    )
    (row,) = json.loads(written(capsys, "json", values))
    assert list(row.values()) == [
        "2026-11-30T17:44:38.872000Z",
        "2026-11-30T17:44:00Z",
        "2026-11-30",
        60.0,
        2,
        2.5,
        None,
        "00ff",
        ["a", None],
        {"k": [1]},
        True,
        None,
    ]


def test_an_empty_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(written(capsys, "json")) == []
    assert written(capsys, "csv") == "c0\n"
    assert written(capsys, "table") == ""


def test_csv_reads_back_and_is_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    text = written(
        capsys, "csv", ('=HYPERLINK("x")', 'say "a,b"\nc', -5, ["x", "y"], None, "+1", "@a", "-b", datetime(2026, 1, 1))
    )
    (_, row) = csv.reader(io.StringIO(text))
    assert row == [
        '\'=HYPERLINK("x")',
        'say "a,b"\nc',
        "-5",
        '["x", "y"]',
        "",
        "'+1",
        "'@a",
        "'-b",
        "2026-01-01T00:00:00Z",
    ]


def test_json_and_tables_carry_no_character_that_a_terminal_acts_on(capsys: pytest.CaptureFixture[str]) -> None:
    as_json = written(capsys, "json", (HOSTILE,))
    assert json.loads(as_json) == [{"c0": HOSTILE}]
    table = written(capsys, "table", (HOSTILE,))
    assert len(table.splitlines()) == 3
    assert r"\x1b[31mred\x1b[0m [bold]rm[/bold] \u202eevil\u2066 a\nb\rc \x9b2J \x07" in table
    for text in (as_json, table):
        assert not any(character in text.replace("\n", "") for character in HOSTILE if not character.isprintable())


def test_csv_keeps_what_it_is_given_unless_a_terminal_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert HOSTILE in written(capsys, "csv", (HOSTILE,))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b" not in written(capsys, "csv", (HOSTILE,))


def test_a_piped_table_is_neither_cut_nor_wrapped_nor_coloured(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 200 + "end"
    lines = written(capsys, "table", (long, 1), ("short", 22)).splitlines()
    assert len(lines) == 4
    assert lines[2] == f"{long}    1"
    assert lines[3] == "short" + " " * (len(long) - 5) + "   22"


@pytest.mark.parametrize(
    "command", [["triage"], ["show", "h"], ["sql", "SELECT * FROM calls"], ["guard", "diff", "fingerprint", "id-breaker"]]
)
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_hostile_log_is_shown_and_not_obeyed(
    command: list[str], form: str, loopscope: Loopscope, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = session(f"h{HOSTILE}", models=(HOSTILE,), version=HOSTILE, cwd=HOSTILE, reason=HOSTILE, prompt_id=HOSTILE)
    made.calls[0].tool = made.calls[0].args_json = made.calls[0].recorded_id = HOSTILE
    made.findings[0].reason = HOSTILE
    made.findings.append(finding(f"h{HOSTILE}", 1, HOSTILE))
    answer = loopscope(*command, "--format", form, "--db", publish(tmp_path_factory.mktemp("h") / "store.duckdb", made))
    assert answer.code == 0
    assert "[bold]rm[/bold]" in answer.out
    assert not {character for character in answer.out + answer.err if not character.isprintable()} - {"\n"}
