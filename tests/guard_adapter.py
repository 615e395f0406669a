"""The real client's guard, through data/guards/client-adapter.mjs, against our ports of it, on every recording.

    python -m tests.guard_adapter [LOGS...] [--pkg DIR --port GUARD]

By default the pinned clients are fetched with npm and asked about data/recordings. Exit code 1 where a decision differs or none
was compared.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cli.main import run
from tests.support import npm_packages

ROOT = Path(__file__).parents[1]
ADAPTER = ROOT / "data" / "guards" / "client-adapter.mjs"
PORTS = {"0.24.4": "fingerprint", "0.21.10": "id-breaker"}


def loopscope(*arguments: object) -> list[dict[str, Any]]:
    """Rows of JSON. Raises RuntimeError with what it said."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*map(str, arguments), "--format=json"])
    if code:
        raise RuntimeError(f"exit code {code}: {err.getvalue()}")
    rows: list[dict[str, Any]] = json.loads(out.getvalue())
    return rows


def agreement(store: Path, package: Path, port: str) -> tuple[int, int, list[dict[str, Any]]]:
    """Decisions compared that are facts, all decisions compared, and the pairs that differ."""
    command = shlex.join([str(npm_packages.node()), str(ADAPTER), "--pkg", str(package)])
    rows = loopscope("guard", "diff", port, "client", "--guard", f"client={command}", "--reply-within=60", "--db", store)
    pairs = [row for row in rows if row["section"] == "pair"]
    observed = sum(row["calls"] for row in pairs if row["basis"] == "observed")
    return observed, sum(row["calls"] for row in pairs), [row for row in pairs if not row["same"]]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.guard_adapter")
    parser.add_argument("logs", nargs="*", type=Path, default=[ROOT / "data" / "recordings"])
    parser.add_argument("--pkg", type=Path, help="a client's package instead of the pinned ones")
    parser.add_argument("--port", default="fingerprint", help="which guard of ours --pkg has to agree with")
    options = parser.parse_args(arguments)
    try:
        packages = {options.pkg: options.port} if options.pkg else {npm_packages.client(v): port for v, port in PORTS.items()}
    except npm_packages.NoClient as error:
        print(error, file=sys.stderr)
        return 1
    failed = False
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store.duckdb"
        with redirect_stderr(StringIO()):
            run(["ingest", *map(str, options.logs), "--db", str(store)])
        for package, port in packages.items():
            observed, compared, differing = agreement(store, package, port)
            version = json.loads((package / "package.json").read_bytes())["version"]
            alike = compared - sum(row["calls"] for row in differing)
            print(f"adapter: {version} and our {port} agree on {alike} of {compared} decisions, {observed} of them facts")
            for row in differing:
                print(f"DIFFERENCE: {json.dumps(row)}")
            failed = failed or bool(differing) or not observed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
