"""The page on guards says what happens: its commands are run, and the files that it shows are those of data/guards."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from analysis.guards import GUARDS
from analysis.guards.contender import CLEARS
from analysis.guards.protocol import Batch, Call, Greeting, Prompt
from analysis.history import SCOPES
from analysis.kit import RULE_IDS
from tests.guard_docs import PAGE, ROOT, Shell, blocks, commands_of

PAGE_TEXT = PAGE.read_text()
NEEDS_NODE = "node data/"


def test_its_commands_give_what_it_says(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    without_node = shutil.which("node") is None and "CI" not in os.environ
    ran = 0
    for block in blocks(PAGE_TEXT):
        for command in commands_of(block["text"]) if block["language"] == "console" else ():
            if without_node and NEEDS_NODE in command.text:
                continue
            assert shell.run(command.text) == command.output, command.text
            ran += 1
    assert ran > 10


@pytest.mark.skipif("CI" not in os.environ and shutil.which("node") is None, reason="needs node")
def test_node_was_there_for_its_commands() -> None:
    assert shutil.which("node") is not None, "CI must have node"
    assert NEEDS_NODE in PAGE_TEXT


@pytest.mark.parametrize("file", ["data/guards/my_guard.py", "data/guards/fingerprint-guard.mjs"])
def test_it_shows_the_files_that_are_there(file: str) -> None:
    shown = [block["text"] for block in blocks(PAGE_TEXT) if block["file"] == file]
    assert shown == [(ROOT / file).read_text()]


def test_every_rule_setting_and_member_is_on_a_page() -> None:
    protocol = (PAGE.parent / "guard-protocol.md").read_text()
    readme = (ROOT / "README.md").read_text()
    names = (*SCOPES, *CLEARS, *RULE_IDS)
    assert [name for name in names if f"`{name}`" not in PAGE_TEXT and f"\n{name} " not in PAGE_TEXT] == []
    assert [guard.name for guard in GUARDS if f"`{guard.name}`" not in readme] == []
    for message in (Batch, Call, Greeting, Prompt):
        members = message.__struct_fields__
        assert [name for name in members if f'"{name}"' not in protocol and f"`{name}`" not in protocol] == []
