"""`triage` over the recordings: what is stuck in silence first, then what loops, then fresh calls that a guard killed."""

from __future__ import annotations

import csv
import io
from itertools import groupby
from pathlib import Path

from tests.cli.conftest import Loopscope
from tests.cli.recordings import session_of, truth
from tests.support.found_rows import publish, session


def test_the_silent_hangs_come_first_and_are_those_that_were_silent(loopscope: Loopscope, recorded: Path) -> None:
    rows = loopscope("triage", "--format=json", "--db", recorded).json()
    silent = {
        (session_of(name), number)
        for name, told in truth().items()
        for number, turn in enumerate(told["turns"], 1)
        if turn["verdict"] == "silent-hang"
    }
    assert len(silent) == 10
    kinds = [kind for kind, _ in groupby(row["kind"] for row in rows)]
    assert kinds[0] == "silent-hang"
    assert kinds.count("silent-hang") == 1
    assert {(row["session_id"], row["turn_no"]) for row in rows if row["kind"] == "silent-hang"} == silent
    severities = [severity for severity, _ in groupby(row["severity"] for row in rows)]
    assert severities == ["critical", "high", "medium", "low"]


def test_each_row_says_where_why_and_what_to_try(loopscope: Loopscope, recorded: Path) -> None:
    name = "0.21.10/a_same_id_diff_args_underscore.acp"
    rows = loopscope("triage", "--session", session_of(name), "--format=json", "--db", recorded).json()
    hang, killed = rows
    assert (hang["kind"], killed["kind"]) == ("silent-hang", "fresh-calls-blocked")
    for row in rows:
        assert (row["model"], row["client_version"], row["entry_point"]) == ("kimi-k3", "0.21.10", "acp")
        assert row["reason"]
        assert row["confidence"] == "certain"
        assert row["what_to_try"]
        for place in row["evidence"]:
            path, _, line = place.rpartition(":")
            assert session_of(name) in path
            assert int(line) <= Path(path).read_bytes().count(b"\n")


def test_the_table_names_the_same_in_few_words(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("triage", "--db", recorded)
    assert answer.code == 0
    assert answer.err == ""
    first, why, see, what = answer.out.splitlines()[1:5]
    assert first.split()[:2] == ["critical", "silent-hang"]
    assert len(first) <= 100
    assert why.startswith("  why  guard id-breaker tripped")
    assert see.startswith("  see  .../chats/")
    assert what.startswith("  try  ")
    # What the table prints as an id is enough for `show`.
    assert loopscope("show", first.split()[2], "--db", recorded).code == 0


def test_csv_has_the_columns_of_json(loopscope: Loopscope, recorded: Path) -> None:
    rows = loopscope("triage", "--format=json", "--db", recorded).json()
    header, *lines = csv.reader(io.StringIO(loopscope("triage", "--format=csv", "--db", recorded).out))
    assert header == list(rows[0])
    assert len(lines) == len(rows)


def test_a_clean_store_says_so(loopscope: Loopscope, tmp_path: Path) -> None:
    clean = session("s")
    clean.findings = []
    db = publish(tmp_path / "store.duckdb", clean)
    answer = loopscope("triage", "--format=json", "--db", db)
    assert (answer.code, answer.json()) == (0, [])
    assert "Nothing hangs" in answer.err
    filtered = loopscope("triage", "--model=none", "--since=2026-01-01", "--db", db)
    assert (filtered.code, filtered.out) == (3, "")
    assert "Nothing passes --since --model" in filtered.err
    # There is a session to answer from, and the answer is that nothing ails it.
    passed = loopscope("triage", "--since=2026-01-01", "--db", db)
    assert (passed.code, passed.out) == (0, "")
    assert "Nothing hangs, loops or was stopped in 1 session." in passed.err


def test_the_table_begins_with_totals(loopscope: Loopscope, recorded: Path) -> None:
    def ask(query: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = loopscope("sql", query, "--format=json", "--db", recorded).json()
        return rows

    numbers = {
        row["verdict"]: row["n"] for row in ask("SELECT verdict, count(*) AS n FROM sessions WHERE kind = 'main' GROUP BY 1")
    }
    (found,) = ask("SELECT count(*) AS findings, count(DISTINCT session_id) AS sessions FROM findings")
    total, *_ = loopscope("triage", "--db", recorded).out.splitlines()
    head, listed = total.split(". ")[0].split(": ")
    assert head == f"{sum(int(str(number)) for number in numbers.values())} sessions"
    assert sorted(listed.split(", ")) == sorted(f"{number} {name}" for name, number in numbers.items())
    assert total.endswith(f". {found['findings']} findings in {found['sessions']} sessions, worst first:")


def test_a_limit_keeps_the_worst_and_says_how_many_it_leaves_out(loopscope: Loopscope, recorded: Path) -> None:
    every = loopscope("triage", "--format=json", "--db", recorded).json()
    few = loopscope("triage", "--limit=3", "--format=json", "--db", recorded)
    assert few.json() == every[:3]
    assert few.err == f"{len(every) - 3} more findings are left out by --limit.\n"
    assert loopscope("triage", f"--limit={len(every)}", "--format=json", "--db", recorded).err == ""
    blocks = len({(row["session_id"], row["kind"]) for row in every})
    _, *lines, left_out = loopscope("triage", "--limit=2", "--db", recorded).out.splitlines()
    assert len([line for line in lines if not line.startswith(" ")]) == 2
    assert left_out == f"{blocks - 2} more entries (each a session's findings of one kind) are left out by --limit."
    assert loopscope("triage", "--limit=0", "--db", recorded).code == 2
