"""The joint of the program: the one module that knows both `ingest` and `analysis`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.analyse import ANALYSIS_VERSION, GUARDS, analyse, analyse_early
from analysis.findings import SessionFindings
from analysis.fingerprint import fingerprint
from analysis.guards.arguments import ArgumentsUnknown
from analysis.liveness import DEFAULT_LIVENESS, Liveness
from analysis.thresholds import DEFAULT_THRESHOLDS
from cli.settings import load_thresholds
from ingest.arguments import ArgumentsGone, LoggedArguments
from ingest.following import follow
from ingest.pipeline import ingest, rebuild
from ingest.progress import SILENT, Progress
from ingest.records import Place, SessionFacts
from ingest.sources import READERS, default_roots
from ingest.store.sessions import load_sessions
from ingest.summary import Summary

if TYPE_CHECKING:
    import duckdb

__all__ = ["SILENT", "Progress", "Summary", "default_roots", "run_follow", "run_ingest", "run_rebuild"]


class BuiltInAnalysis:
    """Raises cli.settings.BadSetting where the settings file cannot be used."""

    guards = tuple((guard.name, guard.about, "built-in") for guard in GUARDS)
    fingerprint = staticmethod(fingerprint)

    def __init__(self) -> None:
        self._thresholds = load_thresholds()
        self._liveness = DEFAULT_LIVENESS

    @property
    def version(self) -> int:
        """Findings made with other thresholds are as stale as those of another version."""
        if self._thresholds == DEFAULT_THRESHOLDS:
            return ANALYSIS_VERSION
        return (ANALYSIS_VERSION << 32) + self._thresholds.stamp()

    def learn(self, tool_seconds: Mapping[str, int]) -> None:
        self._liveness = Liveness.from_corpus(tool_seconds)

    def analyse(self, facts: SessionFacts) -> SessionFindings:
        return analyse(facts, self._thresholds, self._liveness)

    def analyse_early(self, facts: SessionFacts) -> SessionFindings | None:
        return analyse_early(facts, self._thresholds)


def run_ingest(
    roots: Sequence[Path], db: Path, report: Progress = SILENT, *, workers: int | None = None, label: str | None = None
) -> Summary:
    """Errors as of `ingest.pipeline.ingest`. label: what every page says of this store, such as that it is a demo."""
    return ingest(roots, db, BuiltInAnalysis(), report, workers=workers, label=label)


def run_follow(
    roots: Sequence[Path], db: Path, report: Progress, told: Callable[[Summary], None], *, stop: threading.Event
) -> None:
    """Errors as of `ingest.following.follow`."""
    follow(roots, db, BuiltInAnalysis(), report, told, stop=stop)


def run_rebuild(roots: Sequence[Path], db: Path, report: Progress = SILENT) -> Summary:
    """Errors as of `ingest.pipeline.rebuild`."""
    return rebuild(roots, db, BuiltInAnalysis(), report, otherwise=[root for root in default_roots() if root.exists()])


class ArgumentsOfLogs:
    """Whole arguments for the guards that need them; and why those that were wanted could not be had."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        readers = {reader.format: reader for reader in READERS}
        sources = con.execute("SELECT source_path, format FROM fact_source").fetchall()
        self._logs = LoggedArguments({path: readers[form] for path, form in sources if form in readers}, fingerprint)
        self.missing: dict[str, str] = {}
        """By the call's record, as `path:line`."""

    def __call__(self, place: Place, fingerprint: bytes, /) -> object:
        try:
            return self._logs.read(place, fingerprint)
        except ArgumentsGone as e:
            self.missing[f"{place.source}:{place.line}"] = str(e)
            raise ArgumentsUnknown(str(e)) from e


def facts_of(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> Iterator[SessionFacts]:
    """What the sources said of these sessions, out of the published store."""
    return load_sessions(con, session_ids)
