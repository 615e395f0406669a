"""What `loopscope ingest` says at its end: this run's files, then what the whole store now says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.inert_text import inert
from cli import settings

if TYPE_CHECKING:
    from ingest.summary import Skipped, Summary

LISTED = 10

Verdicts = dict[str, int]
"""Sessions by their verdict, worst first."""


def print_summary(summary: Summary, db: Path) -> None:
    for line in _lines(summary, db):
        click.echo(inert(line), err=True)


def print_change(summary: Summary, verdicts: Verdicts, before: Verdicts) -> None:
    """One line for what a follower read just now, one for the verdicts that became more or fewer, and one for each file or
    session that gave trouble."""
    counted = f"{summary.records} records from {summary.read} files"
    if summary.gone:
        counted += f", {summary.gone} files gone"
    now = datetime.now().strftime("%H:%M:%S")
    lines = [f"{now} {counted}; {summary.sessions_analysed} sessions analysed"]
    changed = [
        f"{verdicts.get(verdict, 0)} {verdict} ({verdicts.get(verdict, 0) - before.get(verdict, 0):+})"
        for verdict in {**verdicts, **before}
        if verdicts.get(verdict, 0) != before.get(verdict, 0)
    ]
    if changed:
        lines.append(f"{now} Sessions: {', '.join(changed)}")
    if summary.problems:
        lines.append(f"{now} {summary.problems} damaged pieces: loopscope sql 'SELECT * FROM problems'")
    for line in (*lines, *_listed("Unreadable", summary.unreadable), *_listed("Could not be analysed", summary.failed)):
        click.echo(inert(line), err=True)


def _lines(summary: Summary, db: Path) -> Iterator[str]:
    of_store = "" if db == settings.load().db else f" --db {shlex.quote(str(db))}"
    yield (
        f"Files: {summary.read} read ({summary.bytes_read / 1e6:.1f} MB), {summary.unchanged} unchanged,"
        f" {len(summary.skipped)} skipped, {len(summary.unreadable)} unreadable, {summary.gone} gone"
    )
    yield (
        f"Read:  {summary.records} records, {summary.calls} calls, {summary.problems} problems in {summary.seconds:.1f} s;"
        f" {summary.sessions_analysed} sessions analysed"
    )
    yield from _listed("Unreadable", summary.unreadable)
    yield from _listed("Skipped", summary.skipped)
    yield from _listed("Could not be analysed (tried again at the next run)", summary.failed)
    if summary.problems_before:
        yield f"Files that have not changed: {summary.problems_before} problems, told when they were read"
    if summary.problems or summary.problems_before:
        yield f"Damaged pieces: loopscope sql{of_store} 'SELECT * FROM problems'"
    yield f"Store: {db}"
    verdicts = sessions_by_verdict(db)
    if verdicts:
        yield "Sessions: " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        yield "Findings: " + (", ".join(f"{count} {kind}" for kind, count in sorted(summary.findings.items())) or "none")
        yield f"Next: loopscope triage{of_store}"


def _listed(title: str, paths: Sequence[Skipped]) -> Iterator[str]:
    if paths:
        yield f"{title}:"
        for skipped in paths[:LISTED]:
            yield f"  {skipped.path}: {skipped.reason}"
        if len(paths) > LISTED:
            yield f"  and {len(paths) - LISTED} more"


def sessions_by_verdict(db: Path) -> Verdicts:
    """Main sessions of the whole store, worst first."""
    from analysis import queries
    from analysis.reading import open_store

    con = open_store(db)
    try:
        counted = queries.run(con, "overview_verdicts").dicts()
        return {str(row["verdict"]): int(str(row["sessions"])) for row in counted if row["sessions"]}
    finally:
        con.close()
