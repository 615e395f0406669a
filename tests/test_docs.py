"""The README names everything that a user can type, set or be shown, in the words in which it is declared."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import click
import pytest
from msgspec.structs import fields

from analysis.detectors import DETECTORS, SESSION_DETECTORS
from analysis.detectors.base import Declared
from analysis.guards import GUARDS, Guard
from analysis.reading import open_store
from analysis.thresholds import DEFAULT_THRESHOLDS, Thresholds
from cli.main import cli
from cli.settings import SETTINGS, Setting
from tests.support.found_rows import publish

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def _commands(group: click.Group, before: str = "") -> list[str]:
    context = click.Context(group)
    names: list[str] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        whole = f"{before}{name}"
        names += _commands(command, f"{whole} ") if isinstance(command, click.Group) else [whole]
    return names


@pytest.mark.parametrize("command", _commands(cli))
def test_every_command_is_in_the_readme(command: str) -> None:
    assert f"`{command}" in README


def test_every_view_of_the_store_is_in_the_readme_and_in_the_help(tmp_path: Path) -> None:
    with closing(open_store(publish(tmp_path / "store.duckdb"))) as con:
        views = con.execute(
            "SELECT view_name FROM duckdb_views() WHERE database_name = 'loopscope' AND NOT internal"
        ).fetchall()
    names = {str(name) for (name,) in views}
    assert {"sessions", "guards"} < names
    (told,) = re.findall(r"read the views (.*?);", README, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", told)) == names
    (helped,) = re.findall(r"over the views: (.*?)\.", " ".join((cli.commands["sql"].help or "").split()))
    assert set(helped.split(", ")) == names


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_is_in_the_readme(setting: Setting) -> None:
    assert f"`{setting.name}` | `{setting.variable}`" in README


@pytest.mark.parametrize("detector", [*DETECTORS, *SESSION_DETECTORS], ids=lambda detector: detector.id)
def test_every_detector_is_in_the_readme_with_what_makes_it_fire(detector: Declared) -> None:
    assert f"| `{detector.id}` | {detector.when(DEFAULT_THRESHOLDS)} |" in README


@pytest.mark.parametrize("name", [field.name for field in fields(Thresholds)])
def test_every_threshold_is_in_the_readme_with_its_default(name: str) -> None:
    assert f"| `{name}` | {getattr(DEFAULT_THRESHOLDS, name)} |" in README


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_every_guard_is_in_the_readme(guard: Guard) -> None:
    assert f"| `{guard.name}` |" in README
