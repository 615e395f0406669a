"""`loopscope serve`: the dashboard, in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cli import settings
from cli.exit_codes import ExitCode
from cli.view import db_option

HOST = "127.0.0.1"
"""Where `dashboard.server` binds, for the message and the look at the port."""

DEFAULT_PORT = 8501

RUNNING_FOR = "LOOPSCOPE_RUNNING_FOR_MINUTES"
"""The pages read no settings file: they are told what was set, so that they call the same turns running as the commands do."""

PACKAGES = Path(__file__).parents[2]
"""Where the server runs. In the folder of the person it would import any `click.py` that lies there, and Streamlit would obey
its `.streamlit/config.toml`."""


def dashboard_options(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--headless", is_flag=True, help="Open no browser.")(command)
    return click.option(
        "--port", type=click.IntRange(1, 65535), default=DEFAULT_PORT, show_default=True, help="Port on 127.0.0.1."
    )(command)


@click.command(short_help="The dashboard, on 127.0.0.1.")
@click.option(
    "--follow",
    multiple=True,
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Read along what is written below PATH, in a process of its own. May be given more than once.",
)
@db_option
@dashboard_options
def serve(follow: Sequence[Path], db: Path | None, port: int, headless: bool) -> int:
    """Serve the dashboard on 127.0.0.1 until Ctrl-C. It reads the store anew for each page."""
    store = db or settings.load().db
    if not follow:
        return serve_dashboard(store, port=port, headless=headless)
    refuse_taken(port)
    with _following(follow, store):
        return serve_dashboard(store, port=port, headless=headless)


@contextmanager
def _following(paths: Sequence[Path], store: Path) -> Iterator[None]:
    """Should it end early (another program writes the store), it says why itself, and the dashboard shows what there is."""
    command = [sys.executable, "-m", "cli", "ingest", "--follow", "--db", os.path.abspath(store), *map(os.path.abspath, paths)]
    follower = subprocess.Popen(command, cwd=PACKAGES)
    try:
        yield
    finally:
        follower.terminate()  # it finishes its transaction
        follower.wait()


def serve_dashboard(db: Path, *, port: int, headless: bool) -> int:
    """Streamlit is imported in the child only. Ctrl-C reaches both; a kill of ours is passed on, so that no server stays. Both
    are how a dashboard is ended, and no failure."""
    refuse_taken(port)
    click.echo(f"Dashboard of {db} on http://{HOST}:{port} (Ctrl-C ends it)", err=True)
    command = [sys.executable, "-m", "dashboard.server", "--port", str(port), *(["--headless"] if headless else [])]
    told = {"LOOPSCOPE_DB": str(db.absolute()), RUNNING_FOR: f"{settings.load().running_for_minutes}"}
    child = subprocess.Popen(command, cwd=PACKAGES, env={**os.environ, **told})
    told_to_end = threading.Event()

    def pass_on(*_: object) -> None:
        told_to_end.set()
        child.terminate()

    before = signal.signal(signal.SIGTERM, pass_on)
    try:
        status = child.wait()
    except KeyboardInterrupt:
        told_to_end.set()
        child.wait()
    finally:
        signal.signal(signal.SIGTERM, before)
    if told_to_end.is_set():
        click.echo("The dashboard has ended.", err=True)
    elif status:
        click.echo(f"loopscope: the dashboard ended with status {status}; its own words are above.", err=True)
        return ExitCode.CANNOT_TELL
    return ExitCode.OK


def refuse_taken(port: int) -> None:
    if _is_taken(port):
        raise click.UsageError(f"Port {port} of {HOST} is taken. Choose another with --port.")


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        if os.name == "posix":
            # A port that a server has just left is free, whatever its connections linger.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False
