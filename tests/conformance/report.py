"""`python -m tests.conformance.report DIR [TRUTH]`: ingest the recordings in DIR and say where they agree with the truth.

TRUTH is an EXPECTED.md or an expected.json; without it, DIR/EXPECTED.md. Exit code 1 where anything disagrees.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from tests.conformance.compare import Comparison, compare
from tests.conformance.observed import seen_sessions
from tests.conformance.truth import read_truth
from tests.support.ingested import ingest_into


def compare_folder(store: duckdb.DuckDBPyConnection, recordings: Path, truth: Path) -> Comparison:
    return compare(seen_sessions(store), recordings, read_truth(truth))


def main(recordings: Path, truth: Path) -> int:
    with TemporaryDirectory() as folder, ingest_into(Path(folder) / "store.duckdb", recordings) as store:
        comparison = compare_folder(store, recordings, truth)
    print(*comparison.lines(), sep="\n")
    return 1 if comparison.disagreements else 0


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    sys.exit(main(folder, Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "EXPECTED.md"))
