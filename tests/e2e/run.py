"""`make e2e`: the real client against a scripted model, and what this project makes of its logs against what it really did.

    python -m tests.e2e.run [--only SCENARIO] [--version VERSION] [--jobs N] [--keep DIR] [--no-namespace]

Exit code 1 where the store disagrees with a run, or a run with what its scenario expects of the guard.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.e2e.agreement import Agreement, unexpected
from tests.e2e.client_home import ClientHome
from tests.e2e.network import is_isolated, isolating_command, raise_loopback
from tests.e2e.play import play
from tests.e2e.recording import keep
from tests.e2e.scenario import Scenario, load_all
from tests.e2e.truth import RunTruth
from tests.support import npm_packages
from tests.support.ingested import ingest_into

GUARDS = {"0.15.10": "none", "0.21.10": "id-breaker", "0.24.4": "fingerprint"}
"""A version with each guard that was shipped."""
IN_NAMESPACE = "LOOPSCOPE_E2E_IN_NAMESPACE"


@dataclass(frozen=True)
class Run:
    scenario: Scenario
    home: ClientHome
    entry_point: str
    truth: RunTruth | None
    """None where it did not go as scripted."""
    failure: str = ""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    if IN_NAMESPACE in os.environ:
        raise_loopback()
        if not is_isolated():
            print("the namespace is not isolated; try --no-namespace", file=sys.stderr)
            return 1
    else:
        try:
            npm_packages.node()
            for version in options.version or GUARDS:
                npm_packages.client(version)
        except npm_packages.NoClient as error:
            print(error, file=sys.stderr)
            return 1
        isolate = None if options.no_namespace else isolating_command()
        if isolate is not None:
            command = [*isolate, sys.executable, "-m", "tests.e2e.run", *arguments]
            return subprocess.run(command, env={**os.environ, IN_NAMESPACE: "1"}, check=False).returncode
        print("no network namespace here: all but loopback goes to a closed port")
    return _run_all(options, has_network=IN_NAMESPACE not in os.environ)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make e2e")
    parser.add_argument("--only", action="append", default=[], metavar="SCENARIO")
    parser.add_argument("--version", action="append", choices=GUARDS)
    parser.add_argument("--jobs", type=int, default=2, help="clients at once")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what was written, and the truth, for the ordinary tests")
    parser.add_argument("--no-namespace", action="store_true", help="a proxy that is not there instead of a network namespace")
    return parser


def _run_all(options: argparse.Namespace, has_network: bool) -> int:
    scenarios = load_all(options.only)
    versions = options.version or list(GUARDS)
    with TemporaryDirectory(prefix="loopscope-e2e-") as name:
        folder = Path(name)
        planned = [
            (scenario, ClientHome(folder / version / f"{scenario.name}.{entry_point}", version, has_network), entry_point)
            for scenario in scenarios
            for version in versions
            for entry_point in scenario.entry_points
        ]
        with ThreadPoolExecutor(options.jobs) as pool:
            runs = list(pool.map(_play, *zip(*planned, strict=True))) if planned else []
        with ingest_into(folder / "store.duckdb", *(run.home.qwen for run in runs)) as store:
            agreement = Agreement(store)
            wrong = list(_failures(runs, agreement))
        if options.keep is not None:
            for run in runs:
                if run.truth is not None:
                    keep(options.keep, run.truth, run.home)
    for disagreement in wrong:
        print(disagreement)
    told = agreement.compared
    print(
        f"e2e: versions {', '.join(versions)}; {len(scenarios)} scenarios in {len(runs)} runs; {told['calls']} calls, "
        f"{told['decisions']} decisions of the guard in force, {told['side effects']} side effects, "
        f"{told['provider ids']} provider ids, {told['turn ends']} turns (verdict, trip) and {told['sub-agents']} sub-agents "
        f"compared; {len(wrong)} disagreements"
    )
    return 1 if wrong or not told["decisions"] else 0


def _play(scenario: Scenario, home: ClientHome, entry_point: str) -> Run:
    began = time.monotonic()
    truth, failure = None, ""
    try:
        truth = play(scenario, home, GUARDS[home.version], entry_point)
    except (RuntimeError, OSError) as error:
        failure = str(error)
    ends = failure if truth is None else ", ".join(turn.end for turn in truth.turns)
    print(f"{home.version} {scenario.name} {entry_point}: {ends} ({time.monotonic() - began:.0f} s)", flush=True)
    return Run(scenario, home, entry_point, truth, failure)


def _failures(runs: Sequence[Run], agreement: Agreement) -> Iterator[str]:
    for run in runs:
        if run.truth is None:
            again = shlex.join(["--only", run.scenario.name, "--version", run.home.version])
            yield f"{run.home.version}/{run.scenario.name}.{run.entry_point}: not played, {run.failure}; again with {again}"
        else:
            agreement.compare(run.truth, run.home.qwen)
            yield from unexpected(run.scenario, run.truth)
    yield from agreement.disagreements


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
