"""`loopscope rebuild`: the store anew from what is left, for a damaged one and for whoever trusts no store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from cli import settings
from cli.exit_codes import ExitCode
from cli.view import db_option


@click.command(short_help="Make the store anew from the logs that are still there.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@db_option
def rebuild(paths: Sequence[Path], db: Path | None) -> int:
    """Read every log again below the paths that were ever ingested, and below each PATH; analyse all sessions again.

    What vanished logs said is kept. A store that cannot be read is renamed and made anew; name the PATHs then, for nothing else
    knows them (without PATH the clients' own folders are read).
    """
    from cli import ingest_report
    from cli.engine import run_rebuild
    from cli.progress_bar import ProgressBar

    store = db or settings.load().db
    with ProgressBar() as bar:
        summary = run_rebuild(paths, store, bar)
    ingest_report.print_summary(summary, store)
    return ExitCode.OK
