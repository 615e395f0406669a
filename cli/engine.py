"""The joint of the program: the one module that knows both `ingest` and `analysis`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.analyse import ANALYSIS_VERSION, GUARDS, analyse
from analysis.findings import SessionFindings
from analysis.fingerprint import fingerprint
from ingest.pipeline import ingest
from ingest.progress import SILENT, Progress
from ingest.records import SessionFacts
from ingest.sources import default_roots
from ingest.summary import Summary

__all__ = ["SILENT", "Progress", "Summary", "default_roots", "run_ingest"]


class BuiltInAnalysis:
    version = ANALYSIS_VERSION
    guards = tuple((guard.name, guard.about, "built-in") for guard in GUARDS)
    fingerprint = staticmethod(fingerprint)

    def analyse(self, facts: SessionFacts) -> SessionFindings:
        return analyse(facts)


def run_ingest(
    roots: Sequence[Path], db: Path, report: Progress = SILENT, *, workers: int | None = None, label: str | None = None
) -> Summary:
    """Errors as of `ingest.pipeline.ingest`. label: what every page says of this store, such as that it is a demo."""
    return ingest(roots, db, BuiltInAnalysis(), report, workers=workers, label=label)
