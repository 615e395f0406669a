"""docs/guards.md as a thing to run: its blocks of commands with their output, and the files that it shows.

`python -m tests.guard_docs` writes the outputs and files of today into the page; the test holds the page against them.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guards.md"

_BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"export (\w+)=(\S+)\Z")


@dataclass(frozen=True)
class Command:
    text: str
    output: str


class Shell:
    """Runs commands in a folder of their own in which data/ is at hand, as somebody does who reads the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "data").symlink_to(ROOT / "data")
        (folder / "bin").mkdir()
        script = folder / "bin" / "loopscope"
        script.write_text(
            f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "
            "'import sys; from cli.main import run; sys.exit(run(sys.argv[1:]))' \"$@\"\n"
        )
        script.chmod(0o755)
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self.variables = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "COLUMNS": "130"}

    def run(self, command: str) -> str:
        """What a terminal shows."""
        if (export := _EXPORT.match(command)) is not None:
            self.variables[export[1]] = export[2]
            return ""
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return ran.stdout


def commands_of(text: str) -> Iterator[Command]:
    """Of one block: a line with `$ ` begins a command, what follows is its output."""
    for piece in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = piece.partition("\n")
        yield Command(command, output)


def blocks(page: str) -> Iterator[re.Match[str]]:
    yield from _BLOCK.finditer(page)


def renewed(page: str) -> str:
    with TemporaryDirectory() as folder:
        shell = Shell(Path(folder))

        def renew(block: re.Match[str]) -> str:
            if block["file"]:
                return f"```{block['language']} {block['file']}\n{(ROOT / block['file']).read_text()}```"
            told = (f"$ {command.text}\n{shell.run(command.text)}" for command in commands_of(block["text"]))
            return f"```{block['language']}\n{''.join(told)}```"

        return _BLOCK.sub(renew, page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
