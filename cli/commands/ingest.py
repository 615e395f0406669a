"""`loopscope ingest`: read what is new, analyse it, say what was read, skipped and found. All of it goes to stderr."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import settings
from cli.exit_codes import ExitCode
from cli.view import db_option

if TYPE_CHECKING:
    from ingest.summary import Summary


@click.command(short_help="Read new logs below PATHs (or the clients' own folders).")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Exit 1 if anything is damaged or could not be read.")
@click.option("--follow", is_flag=True, help="Go on reading what is written, until Ctrl-C or SIGTERM; exit 0 then.")
@db_option
def ingest(paths: Sequence[Path], strict: bool, follow: bool, db: Path | None) -> int:
    """Read the logs below each PATH: a client's home, a project's folder, a copied archive, one file.

    Without PATH the clients' own folders are read. What was read before and has not changed is not opened again.
    """
    from cli import ingest_report
    from cli.engine import run_ingest
    from cli.progress_bar import ProgressBar

    store = db or settings.load().db
    if follow:
        if strict:
            raise click.UsageError("--strict judges a run that ends: it does not go with --follow.")
        return _follow(paths, store)
    roots, missing = _existing(paths) if paths else _default_roots()
    if not roots:
        click.echo("There is nothing to read. Give the PATH of a folder or file with logs.", err=True)
        return ExitCode.NO_DATA
    with ProgressBar() as bar:
        summary = run_ingest(roots, store, bar)
    ingest_report.print_summary(summary, store)
    if not _was_readable(summary):
        click.echo(
            f"No log of a known client below {', '.join(map(str, roots))}. `loopscope doctor` says where clients keep them.",
            err=True,
        )
        return ExitCode.NO_DATA
    if strict and (summary.problems or summary.problems_before or summary.unreadable or summary.failed or missing):
        return ExitCode.FOUND
    return ExitCode.OK


def _follow(paths: Sequence[Path], store: Path) -> int:
    """What is not there yet is waited for."""
    from cli import ingest_report
    from cli.engine import default_roots, run_follow
    from cli.progress_bar import ProgressBar

    stop = threading.Event()
    roots = list(paths) or default_roots()
    before: ingest_report.Verdicts | None = None

    def told(summary: Summary) -> None:
        nonlocal before
        verdicts = ingest_report.sessions_by_verdict(store)
        if before is not None:
            ingest_report.print_change(summary, verdicts, before)
            before = verdicts
            return
        before = verdicts
        ingest_report.print_summary(summary, store)
        if not stop.is_set():
            click.echo(f"Following {', '.join(map(str, roots))} (Ctrl-C ends it)", err=True)

    handlers = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with ProgressBar() as bar:
            run_follow(roots, store, bar, told, stop=stop)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return ExitCode.OK


def _existing(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    missing = [path for path in paths if not path.exists()]
    for path in missing:
        click.echo(f"There is no {path}; the rest is read.", err=True)
    return [path for path in paths if path not in missing], missing


def _default_roots() -> tuple[list[Path], list[Path]]:
    """None of them is missing: nobody asked for one by name."""
    from cli.engine import default_roots

    there = []
    for root in default_roots():
        click.echo(f"{root}: {'found' if root.exists() else 'not there'}", err=True)
        if root.exists():
            there.append(root)
    return there, []


def _was_readable(summary: Summary) -> bool:
    return summary.records > 0 or summary.unchanged > 0
