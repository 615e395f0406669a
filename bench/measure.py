"""One measurement, as JSON on stdout: seconds without imports, peak memory of this process and of its largest worker."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path


def main(what: str, logs: Path, store: Path | None) -> None:
    from bench.floor import decode_all
    from cli.engine import run_ingest
    from ingest.store.columns import arrow

    arrow()
    started = time.monotonic()
    records = decode_all(logs) if store is None else run_ingest([logs], store).records
    measured = {
        "seconds": time.monotonic() - started,
        "records": records,
        "main_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "worker_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }
    print(json.dumps({"what": what, **measured}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
