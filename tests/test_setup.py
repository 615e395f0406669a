"""Set-up as far as it can be tried without a new machine: the Makefile with a pretended Python, and the pinned files."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
INPUTS = ("Makefile", "pyproject.toml", "requirements-dev.txt")

# Makes what `python -m venv` makes, as far as the Makefile sees it, and tells of each call.
PRETENDED_PYTHON = """#!/bin/sh
echo "python $*" >> calls
[ "$2" = venv ] || exit 0
mkdir -p .venv/bin
printf '#!/bin/sh\\necho "pip $*" >> calls\\n' > .venv/bin/pip
chmod +x .venv/bin/pip
"""


def pins(name: str) -> dict[str, list[str]]:
    """Each pinned requirement of a file with its hashes."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return {line.split(" --hash", 1)[0].strip(): re.findall(r"--hash=sha256:([0-9a-f]{64})(?=\s|$)", line) for line in lines}


def project(line: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", line)
    assert found
    return re.sub(r"[._-]+", "-", found[0]).lower()  # a dot and a hyphen name the same project


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_and_hashed_and_no_index_is_named(name: str) -> None:
    for pin, hashes in pins(name).items():
        assert re.match(r"[a-z0-9._-]+==[0-9][^ ]*( ; .+)?$", pin)
        assert hashes
    assert not re.search(r"://|--(extra-)?index-url|--find-links", (ROOT / name).read_text(encoding="utf-8"))


def test_the_pinned_files_hold_what_the_project_asks_for() -> None:
    runtime, everything = pins("requirements.txt"), pins("requirements-dev.txt")
    asked = PROJECT["project"]["dependencies"]
    asked_dev = [*PROJECT["dependency-groups"]["dev"], *PROJECT["build-system"]["requires"], "editables"]
    assert {project(line) for line in asked} <= {project(pin) for pin in runtime}
    assert {project(line) for line in asked_dev} <= {project(pin) for pin in everything}
    assert runtime.items() <= everything.items()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in INPUTS:
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(PRETENDED_PYTHON)
    python.chmod(0o755)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "PYTHON=./python", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_install_takes_the_pinned_packages_and_then_the_project_alone(checkout: Path) -> None:
    assert make(checkout, "install").returncode == 0
    pip = [line for line in (checkout / "calls").read_text().splitlines() if line.startswith("pip")]
    assert len(pip) == 2
    assert "--require-hashes -r requirements-dev.txt" in pip[0]
    assert "--no-deps --no-build-isolation --editable ." in pip[1]


def test_a_second_install_does_nothing_and_a_changed_pin_starts_anew(checkout: Path) -> None:
    make(checkout, "install")
    before = (checkout / "calls").read_text()
    os.utime(checkout / "pyproject.toml")
    assert make(checkout, "install").returncode == 0
    assert (checkout / "calls").read_text() == before

    with (checkout / "requirements-dev.txt").open("a") as file:
        file.write("# another\n")
    make(checkout, "install")
    assert (checkout / "calls").read_text() == before * 2


def test_an_interrupted_install_is_done_again(checkout: Path) -> None:
    make(checkout, "install")
    before = (checkout / "calls").read_text()
    (stamp,) = (checkout / ".venv").glob("installed-*")
    stamp.unlink()
    make(checkout, "install")
    assert (checkout / "calls").read_text() == before * 2


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ('case "$2" in *version_info*) exit 1;; esac', "Python 3.11 or newer is needed"),
        ('case "$2" in *ensurepip*) exit 1;; esac', "apt-get install python3-venv"),
    ],
)
def test_a_python_that_will_not_do_is_named_before_anything_is_made(checkout: Path, script: str, told: str) -> None:
    (checkout / "python").write_text(f"#!/bin/sh\n{script}\n")
    ended = make(checkout, "install")
    assert ended.returncode != 0
    assert told in ended.stderr
    assert not (checkout / ".venv").exists()


def test_help_is_what_make_alone_prints_and_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    ended = make(ROOT)
    assert ended.returncode == 0
    assert [line.split()[0] for line in ended.stdout.splitlines()] == targets.split()


def test_the_judge_of_a_commit_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
