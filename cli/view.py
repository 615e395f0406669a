"""What every reading command shares: which store, which turns of it, which clock, which form of answer.

`reading_options` adds the options to a command and hands it one `View`; so a new command has all filters from its first day.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import moments, settings
from cli.exit_codes import ExitCode
from cli.output import FORMATS, Format
from cli.session_ids import NoSuchSession

if TYPE_CHECKING:
    import duckdb

    from analysis.reading import Filters

FILTER_NAMES = ("since", "until", "model", "project", "client", "version", "session")


@dataclass(frozen=True)
class View:
    db: Path
    filters: Filters
    as_of: datetime | None
    format: Format
    settings: settings.Settings

    @contextmanager
    def open(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Raises as `analysis.reading.open_store` does, and NoSuchSession: no rows of a session that is not there would look
        like nothing to say of it."""
        from analysis.reading import is_known, open_store

        con = open_store(
            self.db,
            self.filters,
            self.as_of,
            running_for=timedelta(minutes=self.settings.running_for_minutes),
            memory_limit=self.settings.sql_memory_limit,
        )
        try:
            if self.filters.session is not None and not is_known(con, self.filters.session):
                raise NoSuchSession.beginning_with(self.filters.session)
            yield con
        finally:
            con.close()

    def explain_empty(self, con: duckdb.DuckDBPyConnection, otherwise: str) -> ExitCode:
        """Says on stderr why there is no row, and is the code to end with: where the filters leave nothing of the store, there
        was nothing to answer from; else that there is none is the answer, in the command's own words."""
        if passes(con, self.filters):
            click.echo(otherwise, err=True)
            return ExitCode.OK
        options = " ".join(f"--{name}" for name in self.filters.given())
        click.echo(f"Nothing passes {options}. Widen or drop a filter to see more.", err=True)
        return ExitCode.NO_DATA


def passes(con: duckdb.DuckDBPyConnection, filters: Filters) -> bool:
    """Whether there is a session left to answer from; without a filter the store may as well be empty."""
    if not filters.given():
        return True
    (chosen,) = con.execute("SELECT count(*) FROM chosen_sessions").fetchall()[0]
    return bool(chosen)


def db_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--db",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The store. Else LOOPSCOPE_DB, else the settings file, else the user data folder.",
    )(command)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(command)
    def with_view(db: Path | None, form: Format, as_of: str | None, **parameters: Any) -> Any:
        filters = {name: parameters.pop(name) for name in FILTER_NAMES}
        return command(_view(db, form, as_of, filters), **parameters)

    decorated: Callable[..., Any] = with_view
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


_OPTIONS = (
    db_option,
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="json: a list of objects. csv: a text cell that a spreadsheet would run as a formula begins with a quote.",
    ),
    click.option("--since", metavar="TIME", help=f"Turns that went on at or after this: {moments.FORMS}."),
    click.option("--until", metavar="TIME", help="Turns that began before this; a bare date takes in that day."),
    click.option("--model", metavar="NAME", help="Turns in which this model answered."),
    click.option("--project", metavar="PATH", help="Turns in this working directory or below; its last part is enough."),
    click.option("--client", metavar="NAME", help="Turns of this client, such as qwen-code."),
    click.option("--version", metavar="VERSION", help="Turns of this client version; 0.24 takes in 0.24.4."),
    click.option("--session", metavar="ID", help="Turns of this session and its sub-agents; a prefix is enough."),
    click.option("--as-of", metavar="TIME", help="The clock by which a turn still runs, and by which ages count. [now]"),
)


def check_utf8(name: str, value: str | None) -> None:
    """Raises a usage error: the store holds no text that is no UTF-8, so such a value is a slip of the terminal."""
    try:
        (value or "").encode()
    except UnicodeEncodeError as e:
        raise click.BadParameter(f"{ascii(value)[:80]} is no UTF-8 text", param_hint=name) from e


def _view(db: Path | None, form: Format, as_of: str | None, filters: dict[str, str | None]) -> View:
    from analysis.reading import Filters

    for name, value in filters.items():
        check_utf8(f"--{name}", value)
    loaded = settings.load()
    now = datetime.now(UTC)
    clock = _moment("--as-of", as_of, now) if as_of else None
    return View(
        db=db or loaded.db,
        filters=Filters(
            since=_moment("--since", filters["since"], clock or now),
            until=_moment("--until", filters["until"], clock or now, end_of_day=True),
            model=filters["model"],
            project=filters["project"],
            client=filters["client"],
            version=filters["version"],
            session=filters["session"],
        ),
        as_of=clock,
        format=form,
        settings=loaded,
    )


def _moment(option: str, text: str | None, now: datetime, *, end_of_day: bool = False) -> datetime | None:
    if text is None:
        return None
    try:
        return moments.parse(text, now, end_of_day=end_of_day)
    except ValueError as e:
        raise click.BadParameter(str(e), param_hint=option) from e
