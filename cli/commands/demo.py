"""`loopscope demo`: the recordings that come with the program, as a month of sessions."""

from __future__ import annotations

from pathlib import Path

import click
import platformdirs

from cli.commands.serve import dashboard_options, refuse_taken, serve_dashboard


@click.command(short_help="Real recordings as a month of sessions, on the dashboard.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the demo's logs and store go. [a folder in the user's cache]",
)
@click.option("--no-serve", is_flag=True, help="Make the store and open no dashboard.")
@dashboard_options
def demo(folder: Path | None, no_serve: bool, port: int, headless: bool) -> int:
    """Replay the recordings in data/ over thirty days, read them into a store of its own, open the dashboard on it.

    Your own store is not touched. Every page says that it shows the demo.
    """
    from cli.demo import LABEL, build_demo
    from cli.engine import run_ingest
    from cli.ingest_report import print_summary
    from cli.progress_bar import ProgressBar

    if not no_serve:
        refuse_taken(port)  # before the work, not behind it
    target = folder or platformdirs.user_cache_path("loopscope", appauthor=False) / "demo"
    store = target / "demo.duckdb"
    click.echo(f"{LABEL}, in {target}", err=True)
    with ProgressBar() as bar:
        summary = run_ingest([build_demo(target)], store, bar, label=LABEL)
    print_summary(summary, store)
    return 0 if no_serve else serve_dashboard(store, port=port, headless=headless)
