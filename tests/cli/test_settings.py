from __future__ import annotations

from pathlib import Path

import pytest

from cli.engine import BuiltInAnalysis
from cli.settings import SETTINGS, BadSetting, Settings, config_file, load, load_thresholds
from tests.cli.conftest import Loopscope


def written(tmp_path: Path, text: str) -> dict[str, str]:
    file = tmp_path / "settings.toml"
    file.write_text(text, encoding="utf-8")
    return {"LOOPSCOPE_CONFIG": str(file)}


def test_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    loaded = load({})
    assert loaded.db.is_relative_to(tmp_path)
    assert (loaded.running_for_minutes, loaded.sql_timeout_seconds, loaded.sql_memory_limit) == (10.0, 30.0, "1GB")
    assert config_file({}).is_relative_to(tmp_path)


def test_the_table_declares_each_setting_once() -> None:
    assert [setting.name for setting in SETTINGS] == list(Settings.__dataclass_fields__)
    assert len({setting.variable for setting in SETTINGS}) == len(SETTINGS)


def test_the_file_beats_the_default_and_the_environment_beats_the_file(tmp_path: Path) -> None:
    environment = written(tmp_path, 'sql_timeout_seconds = 5\nrunning_for_minutes = 2.5\ndb = "~/here.duckdb"')
    loaded = load({**environment, "LOOPSCOPE_SQL_TIMEOUT_SECONDS": "7", "LOOPSCOPE_RUNNING_FOR_MINUTES": ""})
    assert loaded.sql_timeout_seconds == 7.0
    assert loaded.running_for_minutes == 2.5
    assert loaded.db == Path.home() / "here.duckdb"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("sql_timeout = 5", "sql_timeout"),
        ("sql_timeout_seconds = 0", "sql_timeout_seconds"),
        ("sql_timeout_seconds = true", "sql_timeout_seconds"),
        ("sql_timeout_seconds = nan", "sql_timeout_seconds"),
        ('sql_memory_limit = "lots"', "sql_memory_limit"),
        ("db = 5", "db"),
        ("db = ", "cannot be read"),
        ("[limits]\na = 1", "limits"),
    ],
)
def test_a_mistake_is_named_and_never_ignored(text: str, names: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=names):
        load(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("running_for_minutes = 1e18", "above 0 and up to 527040 (a year)"),
        ("running_for_minutes = 1" + 400 * "0", "above 0 and up to 527040 (a year)"),
        ("sql_timeout_seconds = 1e300", "above 0 and up to 86400 (a day)"),
        ("sql_timeout_seconds = inf", "above 0 and up to 86400 (a day)"),
        ('sql_memory_limit = "1KB"', "from 64MB to 1000TB"),
        ('sql_memory_limit = "99999999TB"', "from 64MB to 1000TB"),
        ('db = "a\\u0000b"', "a path"),
        ('db = "~nobody-of-this-name/x"', "a path in a home folder that there is"),
    ],
)
def test_an_extreme_is_told_with_its_place_and_what_is_allowed(text: str, allowed: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting) as raised:
        load(written(tmp_path, text))
    told = str(raised.value)
    assert told.startswith(f"{text.split()[0]} in {tmp_path / 'settings.toml'} has to be ")
    assert allowed in told
    assert len(told) < len(str(tmp_path)) + 250


@pytest.mark.parametrize(("name", "value"), [("RUNNING_FOR_MINUTES", "527040"), ("SQL_TIMEOUT_SECONDS", "86400")])
def test_the_ends_of_a_range_are_in_it(
    name: str, value: str, loopscope: Loopscope, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"LOOPSCOPE_{name}", value)
    assert loopscope("sql", "SELECT count(*) FROM turns WHERE verdict = 'running'", "--db", recorded).code == 0


@pytest.mark.parametrize("limit", ["64MB", "1000TB"])
def test_every_allowed_memory_opens_a_store(
    limit: str, loopscope: Loopscope, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPSCOPE_SQL_MEMORY_LIMIT", limit)
    assert loopscope("triage", "--db", recorded).code == 0
    assert loopscope("sql", "SELECT * FROM calls", "--db", recorded).code == 0


@pytest.mark.parametrize("text", ["a = " + 100_000 * "[", "sql_timeout_seconds = " + 9_000 * "1", "a = \x00", 'a = "\udcff"'])
def test_a_file_that_no_parser_takes_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(BadSetting, match=r"settings\.toml cannot be read"):
        load({"LOOPSCOPE_CONFIG": str(file)})


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file here")
def test_an_endless_file_is_no_settings_file() -> None:
    with pytest.raises(BadSetting, match="/dev/zero is no settings file: it holds more than 1 MB"):
        load({"LOOPSCOPE_CONFIG": "/dev/zero"})


def test_a_mistake_in_the_environment_is_named() -> None:
    with pytest.raises(BadSetting, match="LOOPSCOPE_SQL_TIMEOUT_SECONDS"):
        load({"LOOPSCOPE_SQL_TIMEOUT_SECONDS": "soon"})


def test_a_file_that_was_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"none\.toml"):
        load({"LOOPSCOPE_CONFIG": str(tmp_path / "none.toml")})


def test_a_mistake_is_wrong_usage(loopscope: Loopscope, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOOPSCOPE_CONFIG", written(tmp_path, "nonsense = 1")["LOOPSCOPE_CONFIG"])
    answer = loopscope("triage")
    assert answer.code == 2
    assert "nonsense" in answer.err


def test_the_store_is_the_options_before_the_environments(
    loopscope: Loopscope, recorded: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOOPSCOPE_DB", str(tmp_path / "none.duckdb"))
    assert loopscope("triage").code == 3
    assert loopscope("triage", "--db", recorded).code == 0
    monkeypatch.setenv("LOOPSCOPE_DB", str(recorded))
    assert loopscope("triage").code == 0


def test_thresholds_come_from_their_table(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text("[thresholds]\nidentical_in_a_row = 7\n", encoding="utf-8")
    thresholds = load_thresholds({"LOOPSCOPE_CONFIG": str(file)})
    assert (thresholds.identical_in_a_row, thresholds.replays) == (7, 3)
    assert load({"LOOPSCOPE_CONFIG": str(file)}).running_for_minutes == 10.0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("identical = 7", "identical"),
        ("replays = 1", "replays"),
        ("replays = 'x'", "replays"),
        ("replays = 1000001", "replays"),
        ("replays = 1" + 30 * "0", "replays"),
        ("dead_end_share = nan", "dead_end_share"),
    ],
)
def test_a_wrong_threshold_is_named(text: str, names: str, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f"[thresholds]\n{text}\n", encoding="utf-8")
    with pytest.raises(BadSetting, match=names):
        load_thresholds({"LOOPSCOPE_CONFIG": str(file)})


def test_other_thresholds_make_the_findings_stale(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = BuiltInAnalysis().version
    file = tmp_path / "own.toml"
    file.write_text("[thresholds]\nreplays = 4\n", encoding="utf-8")
    monkeypatch.setenv("LOOPSCOPE_CONFIG", str(file))
    assert BuiltInAnalysis().version != before
