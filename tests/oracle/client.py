"""Asks the functions of the real client: a list of questions in, a list of answers out, over files and one node process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support import npm_packages

SCRIPT = Path(__file__).with_name("ask_client.mjs")


def ask(version: str, questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """RuntimeError where the client's functions do not take a question: that is a fault of the question or of SCRIPT."""
    command = [str(npm_packages.node()), str(SCRIPT), str(npm_packages.client(version))]
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "questions.jsonl", Path(folder) / "answers.jsonl"
        asked.write_text("".join(json.dumps(question) + "\n" for question in questions), "ascii")
        ended = subprocess.run([*command, str(asked), str(answered)], capture_output=True, text=True, check=False)
        if ended.returncode or not answered.exists():
            raise RuntimeError(f"{SCRIPT.name} ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
        answers = [json.loads(line) for line in answered.read_bytes().split(b"\n") if line]
    if len(answers) != len(questions):
        raise RuntimeError(f"{len(answers)} answers to {len(questions)} questions")
    return answers
