"""One measurement, as JSON on stdout: seconds without imports, CPU and peak memory of this process and of its workers.

`python -m bench.measure floor LOGS`: the bare decode of the logs. `stat LOGS`: a look at each file below. `ingest LOGS STORE`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path


def _stat_all(folder: Path) -> int:
    """What it costs at least to see that nothing has changed."""
    return sum(len([os.stat(os.path.join(at, name)) for name in names]) for at, _, names in os.walk(folder))


def main(what: str, logs: Path, store: Path | None) -> None:
    from bench.floor import decode_all
    from cli.engine import run_ingest
    from ingest.store.columns import arrow

    arrow()
    before = _cpu()
    started = time.monotonic()
    if what == "ingest":
        assert store is not None
        count = run_ingest([logs], store).records
    else:
        count = decode_all(logs) if what == "floor" else _stat_all(logs)
    seconds = time.monotonic() - started
    measured = {
        "seconds": seconds,
        "cpu": _cpu() - before,
        "records": count,
        "main_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "worker_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }
    print(json.dumps({"what": what, **measured}))


def _cpu() -> float:
    """Seconds, of workers that have ended too."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
