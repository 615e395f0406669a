"""The command line: the list of commands, and the one edge at which errors become a sentence and an exit code.

A command's module may import at its top only what is quick: `loopscope --help` reads them all. DuckDB, Rich, Polars and
Streamlit are imported where they are used (a test looks at the modules of a fresh process).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from cli.commands.cards import cards
from cli.commands.demo import demo
from cli.commands.doctor import doctor
from cli.commands.guard import guard
from cli.commands.ingest import ingest
from cli.commands.rebuild import rebuild
from cli.commands.serve import serve
from cli.commands.show import show
from cli.commands.sql import sql
from cli.commands.triage import triage
from cli.demo import FolderTaken, NoRecordings
from cli.exit_codes import ExitCode
from cli.session_ids import NoSuchSession
from cli.settings import BadSetting
from ingest.errors import LoopscopeError, NoStore, StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable

EPILOG = (
    "Exit status: 0 fine; 1 a gate found something; 2 usage; 3 no data; 4 cannot tell; "
    "5 store busy, damaged or newer than the program; 130 interrupted."
)


class _ReaderGone(Exception):
    """The reader of our pipe (`head`) has all it wanted."""


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as e:
            # Click itself would end with 1, which says that a gate found something.
            raise _ReaderGone from e


@click.group(cls=_Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="loopscope", prog_name="loopscope")
def cli() -> None:
    """Say which sessions of AI coding agents hang, loop or were stopped by a guard, from their logs.

    Start with `loopscope ingest` (the clients' own folders, or any PATH), then `loopscope triage`.
    """


for _command in (ingest, triage, show, cards, guard, sql, serve, doctor, rebuild, demo):
    cli.add_command(_command)


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """One command; the exit code. Raises nothing but what a bug raises, and that too ends as a code with its traceback."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape instead of an end of the program.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # not a TextIOWrapper under a test
    try:
        result = cli.main(args=list(arguments), prog_name="loopscope", standalone_mode=False)
        sys.stdout.flush()
        return int(result) if isinstance(result, int) else ExitCode.OK
    except click.ClickException as e:
        e.show()
        return ExitCode.USAGE
    except LoopscopeError as e:
        click.echo(f"loopscope: {e}", err=True)
        return _code_of(e)
    except (KeyboardInterrupt, click.Abort):
        click.echo("loopscope: interrupted.", err=True)
        return ExitCode.INTERRUPTED
    except (_ReaderGone, BrokenPipeError):
        # Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception:
        import traceback

        traceback.print_exc()
        return ExitCode.CANNOT_TELL


def _code_of(error: LoopscopeError) -> ExitCode:
    match error:
        case BadSetting() | FolderTaken():
            return ExitCode.USAGE
        case NoStore() | NoSuchSession() | NoRecordings():
            return ExitCode.NO_DATA
        case StoreBusy() | StoreDamaged() | StoreTooNew() | StoreUnwritable():
            return ExitCode.STORE
        case _:
            return ExitCode.CANNOT_TELL
