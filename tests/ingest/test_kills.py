"""kill -9 at any moment: the store opens again, and what is ingested in the end is what one run makes, row for row.

20 kills in `make test`, 100 in `make soak`. The moments differ from run to run; a failure names its seed.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from cli.engine import run_ingest
from tests.ingest.store_content import content, first_difference

KILLS = int(os.environ.get("LOOPSCOPE_KILLS", "20"))
SEED = int(os.environ.get("LOOPSCOPE_SEED", random.randrange(1 << 30)))


def test_a_store_killed_at_random_equals_one_made_in_a_single_run(tmp_path: Path) -> None:
    logs, db = tmp_path / "logs", tmp_path / "store.duckdb"
    command = [sys.executable, "-m", "tests.ingest.killing", str(logs), str(db), str(SEED), str(KILLS)]
    killing = subprocess.run(command, capture_output=True, text=True)
    print(killing.stdout)
    assert killing.returncode == 0, f"seed {SEED}: {killing.stderr}"
    run_ingest([logs], tmp_path / "at-once.duckdb", workers=1)
    killed, at_once = content(db), content(tmp_path / "at-once.duckdb")
    assert first_difference(killed, at_once) == "", f"seed {SEED}"
    assert killed["dirty_session"] == []
    assert not list(tmp_path.glob("*damaged*")), "nothing had to be set aside"
