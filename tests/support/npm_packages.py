"""The real client, and a Node to run it, from the npm registry that npm is set up for.

Each package is installed once into a folder of its own below `.cache/npm`, which git ignores; an interrupted installation is
taken up again. Install scripts are not run but for Node's own, which fetches its binary.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "npm"
CLIENT = "@qwen-code/qwen-code"
NODE = "22"
"""The oldest major version on which every pinned client runs."""


class NoClient(Exception):
    """npm is missing or could not install; says what to try."""


def client(version: str) -> Path:
    """The folder of the client's package."""
    return _installed(CLIENT, version, "--ignore-scripts")


def node() -> Path:
    """The system's Node if it is new enough, else one from npm."""
    found = shutil.which("node")
    if found is not None and int(_output(found, "--version").lstrip("v").split(".")[0]) >= int(NODE):
        return Path(found)
    return _installed("node", NODE) / "bin" / "node"


def _installed(package: str, version: str, *options: str) -> Path:
    folder = CACHE / f"{package.rpartition('/')[2]}-{version}"
    done = folder / "installed"
    if not done.exists():
        _install(f"{package}@{version}", folder, options)
        done.touch()
    return folder / "node_modules" / package


def _install(package: str, folder: Path, options: tuple[str, ...]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NoClient("npm is needed to fetch the real client. On Debian and Ubuntu: apt-get install npm")
    print(f"installing {package} into {folder}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}\n')
    command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--save-exact", *options, package]
    ended = subprocess.run(command, cwd=folder, env=_quiet(), capture_output=True, text=True, check=False)
    if ended.returncode:
        raise NoClient(f"npm could not install {package} (try again with a network that reaches its registry):\n{ended.stderr}")


def _quiet() -> dict[str, str]:
    return {**os.environ, "npm_config_update_notifier": "false"}


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
