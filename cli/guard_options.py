"""The options of every command that takes guards which are not built in."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from analysis.compare import IN_FORCE
from cli.numbers import Number

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*\Z")
DEFAULT_REPLY_SECONDS = 10.0
REPLY_SECONDS = Number(0.01, 24 * 60 * 60)
MOST_JOBS = 64


@dataclass(frozen=True)
class GuardOptions:
    specs: Mapping[str, str]
    """By name: a built-in guard with settings, FILE.py:NAME, or a command."""
    reply_seconds: float
    jobs: int


class _NamedSpec(click.ParamType[tuple[str, str]]):
    name = "NAME=GUARD"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, spec = str(value).partition("=")
        if not equals or not _NAME.match(name) or not spec.strip():
            self.fail(f"{value!r}: write NAME=GUARD, the name of letters, digits, dots and dashes", param, ctx)
        if name == IN_FORCE:
            self.fail(f"{name!r} stands for the guard that was in force", param, ctx)
        return name, spec.strip()


def guard_options(command: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(command)
    def with_options(guards: tuple[tuple[str, str], ...], reply_within: float, jobs: int, **parameters: Any) -> Any:
        names = [name for name, _ in guards]
        if len(set(names)) < len(names):
            raise click.BadParameter("two guards have one name", param_hint="--guard")
        return command(options=GuardOptions(dict(guards), reply_within, jobs), **parameters)

    decorated: Callable[..., Any] = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


_OPTIONS = (
    click.option(
        "--guard",
        "guards",
        type=_NamedSpec(),
        multiple=True,
        help="Another guard under a name: a built-in one with settings (fingerprint:threshold=2,scope=session), "
        "PATH/FILE.py:NAME, or the command of a program that speaks the guard protocol.",
    ),
    click.option(
        "--reply-within",
        type=REPLY_SECONDS,
        default=DEFAULT_REPLY_SECONDS,
        show_default=True,
        metavar="SECONDS",
        help="How long a guard that is not built in may take for one batch; to start, twice that.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1, MOST_JOBS),
        default=2,
        show_default=True,
        help="Copies of a program that play sessions at once.",
    ),
)


def sessions_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--sessions",
        type=click.Path(path_type=Path, allow_dash=True, exists=True, dir_okay=False),
        metavar="FILE",
        help="Only the sessions that this file lists, an id or the path of a log a line; - is standard input.",
    )(command)


def read_sessions(path: Path | None) -> tuple[str, ...] | None:
    """Raises a usage error where the list is empty: no list and an empty one mean opposite things."""
    if path is None:
        return None
    with click.open_file(str(path), encoding="utf-8", errors="replace") as lines:
        listed = [line.strip() for line in lines]
    found = tuple(
        line if "/" not in line or not Path(line).is_file() else str(Path(line).absolute()) for line in listed if line
    )
    if not found:
        raise click.BadParameter(f"{path} lists no session", param_hint="--sessions")
    return found
