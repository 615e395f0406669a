"""The core runs where neither database nor screen is installed: what import-linter says of the text, seen in fresh processes.

The static check knows the imports that it can read; a library that a library pulls in, or an import inside a function that runs
at import time, only shows in `sys.modules`. The modules are found by walking, so that a new one is held to this too.
"""

import pkgutil
import subprocess
import sys

import pytest

import analysis
import ingest.readers

HEAVY = {"duckdb", "polars", "pandas", "numpy", "pyarrow", "streamlit", "plotly"}
READS_THE_STORE = {"analysis.reading", "analysis.queries"}


def modules_below(package: str, path: list[str]) -> list[str]:
    return [package, *(found.name for found in pkgutil.walk_packages(path, f"{package}."))]


CORE = sorted(
    {
        "ingest.records",
        *modules_below("ingest.readers", ingest.readers.__path__),
        *modules_below("analysis", analysis.__path__),
    }
    - READS_THE_STORE
)


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.split())


@pytest.mark.parametrize("module", CORE)
def test_a_core_module_loads_nothing_heavy(module: str) -> None:
    assert modules_after(f"import {module}") & (HEAVY | READS_THE_STORE) == set()


def test_the_walk_finds_the_core() -> None:
    known = {"ingest.records", "ingest.readers.base", "analysis.analyse", "analysis.fingerprint", "analysis.guards"}
    assert known <= set(CORE)


def test_the_process_would_show_a_heavy_module() -> None:
    assert "pyarrow" in modules_after("import pyarrow")


def test_ingest_does_not_load_analysis() -> None:
    walked = "import pkgutil, ingest\nfor m in pkgutil.walk_packages(ingest.__path__, 'ingest.'): __import__(m.name)"
    loaded = modules_after(walked)
    assert "ingest.store.writable" in loaded
    assert {name.split(".")[0] for name in loaded} & {"analysis", "cli", "dashboard"} == set()
