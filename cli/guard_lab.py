"""Guards that are tried: replayed over the store's sessions and put among its own, for one connection.

After `tried` every view and every query knows them: a guard that is tried is compared, listed and counted by the same SQL as a
built-in one. Where a guard failed in a session its decisions there are `unknown`: no comparison takes silence for consent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from analysis.compare import IN_FORCE
from analysis.inert_text import inert
from cli.guard_options import GuardOptions
from ingest.errors import LoopscopeError

if TYPE_CHECKING:
    import duckdb

    from analysis.guards import Contender
    from analysis.guards.arguments import Source
    from analysis.trial import Trial
    from cli.view import View
    from ingest.records import SessionFacts

_CALLS_AT_ONCE = 5000
"""Of the sessions that are held in memory together."""


class GuardUnusable(LoopscopeError):
    """A program that does not even say hello: there is nothing to learn from trying it on every session."""


@dataclass
class Tried:
    con: duckdb.DuckDBPyConnection
    trials: list[Trial] = field(default_factory=list)
    missing_arguments: dict[str, str] = field(default_factory=dict)
    """Why arguments that a guard needed could not be had, by the call's record."""

    @property
    def failures(self) -> list[dict[str, object]]:
        return [
            {"guard": trial.guard, "session_id": trial.session_id, "reason": trial.failure}
            for trial in self.trials
            if trial.failure is not None
        ]


@contextmanager
def tried(view: View, options: GuardOptions, names: Sequence[str], sessions: tuple[str, ...] | None = None) -> Iterator[Tried]:
    """The store with the guards of `options`, and with those of `names` that an installed package offers.

    Raises usage errors for names and settings, GuardUnusable, and as `View.open` does.
    """
    view = replace(view, filters=replace(view.filters, sessions=sessions))
    with view.open() as con:
        known = _known_guards(con)
        specs = _specs(options, names, known)
        result = Tried(con)
        if specs:
            _try_all(result, view, replace(options, specs=specs))
        yield result


def _known_guards(con: duckdb.DuckDBPyConnection) -> list[str]:
    from analysis import queries

    return [str(row[0]) for row in queries.run(con, "guard_names").rows]


def _specs(options: GuardOptions, names: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    for name in options.specs:
        if name in known:
            raise click.UsageError(f"The name {name!r} is a built-in guard's. Give yours another.")
    specs = dict(options.specs)
    unknown = [name for name in names if name not in (*known, *specs, IN_FORCE)]
    if unknown:
        from analysis.guards.load import offered_names

        offered = offered_names()
        for name in unknown:
            if name not in offered:
                listed = ", ".join([*known, *specs, *sorted(offered)]) or "none"
                raise click.UsageError(f"There is no guard {name!r}. Known are: {listed}. Others come with --guard NAME=...")
            specs[name] = name
    return specs


@contextmanager
def loaded(options: GuardOptions, source: Source) -> Iterator[list[Contender]]:
    """The guards of the options, their programs started; they end with the block. Raises usage errors, GuardUnusable."""
    lane = _load(options, source)
    try:
        _start(lane)
        yield lane
    finally:
        _close(lane)


@contextmanager
def contenders(con: duckdb.DuckDBPyConnection, options: GuardOptions, names: Sequence[str]) -> Iterator[list[Contender]]:
    """Guards by their names, to be replayed on one session. Raises usage errors, GuardUnusable."""
    from analysis.guards import BUILT_IN
    from cli.engine import ArgumentsOfLogs

    built_in = {one.name: one for one in BUILT_IN}
    specs = _specs(options, names, [*built_in])
    if IN_FORCE in names:
        raise click.UsageError(f"{IN_FORCE} is no one guard: name the guard that was in force.")
    with loaded(replace(options, specs=specs), ArgumentsOfLogs(con)) as others:
        known = {**built_in, **{one.name: one for one in others}}
        yield [known[name] for name in names]


def _try_all(result: Tried, view: View, options: GuardOptions) -> None:
    from analysis.findings import DecisionRow, DivergenceRow, GuardRow, TripRow
    from analysis.guards.outside import OutsideGuard
    from analysis.reading import add_rows
    from analysis.trials import run_trials
    from cli.engine import ArgumentsOfLogs

    arguments = [ArgumentsOfLogs(result.con)]
    with ExitStack() as stack:
        lanes = [stack.enter_context(loaded(options, arguments[0]))]
        if any(isinstance(one.guard, OutsideGuard) for one in lanes[0]):
            for _ in range(1, options.jobs):
                arguments.append(ArgumentsOfLogs(result.con))
                lanes.append(stack.enter_context(loaded(options, arguments[-1])))
        chunks = _chunks(result.con, only_eventful=all(one.can_skip_new_ids for one in lanes[0]))
        result.trials = list(run_trials(chunks, lanes))
    for source in arguments:
        result.missing_arguments.update(source.missing)
    trials, kept = result.trials, lanes[0]
    for table, rows, kind in (
        ("found_guards", [GuardRow(guard=one.name, about=one.guard.about, source=one.source) for one in kept], GuardRow),
        ("found_decisions", [row for trial in trials for row in trial.decisions], DecisionRow),
        ("found_divergences", [row for trial in trials for row in trial.divergences], DivergenceRow),
        ("found_trips", [row for trial in trials for row in trial.trips], TripRow),
    ):
        add_rows(result.con, view.filters, table, rows, kind)


def _load(options: GuardOptions, source: Source) -> list[Contender]:
    from analysis.guards.base import NoSuchGuard
    from analysis.guards.load import load
    from analysis.guards.what_if import BadSettings

    lane: list[Contender] = []
    for name, text in options.specs.items():
        try:
            lane.append(load(name, text, source, options.reply_seconds))
        except (NoSuchGuard, BadSettings) as e:
            _close(lane)
            raise click.UsageError(f"--guard {name}: {e}") from e
    return lane


def _start(lane: Sequence[Contender]) -> None:
    from analysis.guards.base import GuardFailed
    from analysis.guards.process import CannotStart, ProcessGuard

    for contender in lane:
        if isinstance(contender.guard, ProcessGuard):
            try:
                contender.guard.start()
            except CannotStart as e:
                raise click.UsageError(f"--guard {contender.name}: {e}") from e
            except GuardFailed as e:
                raise GuardUnusable(f"The guard {contender.name!r} does not say hello: {e}") from e


def _close(lane: Sequence[Contender]) -> None:
    from analysis.guards.process import ProcessGuard

    for contender in lane:
        if isinstance(contender.guard, ProcessGuard):
            contender.guard.close()


def _chunks(con: duckdb.DuckDBPyConnection, *, only_eventful: bool) -> Iterator[Iterator[SessionFacts]]:
    """Where all guards decide by repeats, a session without one needs no replay: every call in it was new and was run."""
    from analysis import queries
    from cli.engine import facts_of

    chunk: list[str] = []
    calls = 0
    for row in queries.run(con, "sessions_to_replay").dicts():
        if only_eventful and not row["is_eventful"]:
            continue
        chunk.append(str(row["session_id"]))
        calls += int(str(row["calls"]))
        if calls >= _CALLS_AT_ONCE:
            yield facts_of(con, chunk)
            chunk, calls = [], 0
    if chunk:
        yield facts_of(con, chunk)


def tell_missing(lab: Tried) -> None:
    """Of each reason how many calls lack their arguments for it; where a decision turns on them it is `unknown`."""
    for reason, calls in Counter(lab.missing_arguments.values()).most_common():
        click.echo(f"Arguments missing: {inert(reason)} ({calls} calls)", err=True)
