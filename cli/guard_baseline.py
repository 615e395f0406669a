"""Baselines of `guard diff`: written to a file, and held against what is now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.inert_text import inert

if TYPE_CHECKING:
    import duckdb

    from analysis.baseline import Moved


@dataclass(frozen=True)
class Held:
    moved: Sequence[Moved]
    still_there: float
    """Percent of the calls of the baseline."""
    found: dict[str, int]
    doubtful: dict[str, int]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [asdict(one) for one in self.moved]

    def doubts(self, kinds: Sequence[str], min_coverage: float) -> list[str]:
        doubts = [
            f"{self.doubtful[kind]} x {kind} where the reading or the analysis changed too"
            for kind in kinds
            if self.doubtful.get(kind)
        ]
        if self.still_there < min_coverage:
            doubts.append(f"only {self.still_there:.1f} % of the baseline's calls are still there")
        return doubts


def hold(con: duckdb.DuckDBPyConnection, path: Path, base: str, candidate: str) -> Held:
    """Tells on stderr how many differences there are of each reason. Raises usage errors for the file."""
    from analysis.analyse import ANALYSIS_VERSION
    from analysis.baseline import BadBaseline, counted, held_against, read_baseline, share_still_there

    try:
        baseline = read_baseline(path.read_bytes())
    except (OSError, BadBaseline) as e:
        raise click.BadParameter(f"{path}: {inert(str(e))}", param_hint="--baseline") from e
    if (baseline.base, baseline.candidate) != (base, candidate):
        told = inert(f"{baseline.base} and {baseline.candidate}")
        raise click.BadParameter(f"{path} is of {told}, not of {base} and {candidate}", param_hint="--baseline")
    moved = held_against(baseline, _calls(con, base, candidate), ANALYSIS_VERSION)
    for why, number in Counter(one.why for one in moved).most_common():
        click.echo(f"Not as in the baseline: {number} calls ({why}).", err=True)
    found, doubtful = counted(moved)
    return Held(moved, share_still_there(baseline, moved), found, doubtful)


def write(con: duckdb.DuckDBPyConnection, path: Path, base: str, candidate: str) -> None:
    from analysis.analyse import ANALYSIS_VERSION
    from analysis.baseline import make_baseline, written

    baseline = make_baseline(_calls(con, base, candidate), base, candidate, ANALYSIS_VERSION)
    path.write_bytes(written(baseline))
    click.echo(f"{path}: {len(baseline.calls)} calls of {len(baseline.sessions)} sessions accepted.", err=True)


def _calls(con: duckdb.DuckDBPyConnection, base: str, candidate: str) -> list[dict[str, Any]]:
    from analysis import queries

    return queries.run(con, "guard_diff_calls", base=base, candidate=candidate).dicts()
