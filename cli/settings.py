"""The settings: one declared table, read from the environment and from one TOML file in the user's configuration folder.

An option of a command beats the environment, the environment beats the file, the file beats the default. A key that is not
declared is an error and not ignored: a threshold with a typing mistake would silently change what is found.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from ingest.errors import LoopscopeError

if TYPE_CHECKING:
    from analysis.thresholds import Thresholds

CONFIG_VARIABLE = "LOOPSCOPE_CONFIG"
_THRESHOLDS = "thresholds"
"""The table whose keys are the fields of analysis.thresholds.Thresholds."""


LEAST_MEMORY, MOST_MEMORY = "64MB", "1000TB"
_LONGEST_FILE = 1 << 20
"""A file of settings is a page; `/dev/zero` has no end."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT])(i?)B")


class BadSetting(LoopscopeError):
    """A setting that cannot be used; the message names its key and where it stands."""


def _path(value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("a path")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("a path in a home folder that there is") from None


def _number_up_to(most: float, named: str) -> Callable[[object], float]:
    """Above 0. What a clock or a date cannot hold any more must not get as far as that."""

    def read(value: object) -> float:
        try:
            number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else 0.0
        except (ValueError, OverflowError):
            number = 0.0
        if not 0 < number <= most:
            raise ValueError(f"a number above 0 and up to {most:.0f} ({named})")
        return number

    return read


def _size(value: object) -> str:
    """Below the least of them DuckDB cannot even open a store, beyond the most it knows no number."""
    if not isinstance(value, str) or not _SIZE.fullmatch(value.strip()):
        raise ValueError("a size such as 512MB or 2GB")
    if not bytes_of(LEAST_MEMORY) <= bytes_of(value.strip()) <= bytes_of(MOST_MEMORY):
        raise ValueError(f"a size from {LEAST_MEMORY} to {MOST_MEMORY}")
    return value.strip()


def bytes_of(size: str) -> int:
    """Of a size that `_size` let pass; as DuckDB reads it, KB is a thousand and KiB 1024."""
    found = _SIZE.fullmatch(size)
    assert found is not None
    return int(float(found[1]) * (1024 if found[3] else 1000) ** (1 + "KMGT".index(found[2])))


@dataclass(frozen=True)
class Setting:
    name: str
    variable: str
    default: Callable[[], object]
    """Asked for at run time: the home folder belongs to whoever runs, not to whoever imported."""
    read: Callable[[object], object]
    help: str


def _default_db() -> Path:
    return platformdirs.user_data_path("loopscope", appauthor=False) / "loopscope.duckdb"


SETTINGS = (
    Setting("db", "LOOPSCOPE_DB", _default_db, _path, "The store."),
    Setting(
        "running_for_minutes",
        "LOOPSCOPE_RUNNING_FOR_MINUTES",
        lambda: 10.0,
        _number_up_to(366 * 24 * 60, "a year"),
        "Minutes for which a turn whose log ends in the middle counts as running.",
    ),
    Setting(
        "sql_timeout_seconds",
        "LOOPSCOPE_SQL_TIMEOUT_SECONDS",
        lambda: 30.0,
        _number_up_to(24 * 60 * 60, "a day"),
        "Seconds after which a query of `loopscope sql` is stopped.",
    ),
    Setting("sql_memory_limit", "LOOPSCOPE_SQL_MEMORY_LIMIT", lambda: "1GB", _size, "Memory that a reading command may take."),
)


@dataclass(frozen=True)
class Settings:
    db: Path
    running_for_minutes: float
    sql_timeout_seconds: float
    sql_memory_limit: str


def config_file(environment: Mapping[str, str] = os.environ) -> Path:
    named = environment.get(CONFIG_VARIABLE)
    return Path(named) if named else platformdirs.user_config_path("loopscope", appauthor=False) / "loopscope.toml"


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """Raises BadSetting."""
    path = config_file(environment)
    of_file = _read_file(path, must_exist=CONFIG_VARIABLE in environment)
    if _THRESHOLDS in of_file:
        load_thresholds(environment)  # a mistake there is told by every command, not only by the one that uses them
    values: dict[str, object] = {}
    for setting in SETTINGS:
        if environment.get(setting.variable):
            values[setting.name] = _checked(setting, environment[setting.variable], f"the variable {setting.variable}")
        elif setting.name in of_file:
            values[setting.name] = _checked(setting, of_file[setting.name], f"{setting.name} in {path}")
        else:
            values[setting.name] = setting.default()
    return Settings(**values)  # type: ignore[arg-type]  # each value went through its setting's own check


def load_thresholds(environment: Mapping[str, str] = os.environ) -> Thresholds:
    """The detectors' thresholds, from the table `[thresholds]` of the file. Raises BadSetting."""
    import msgspec

    from analysis.thresholds import DEFAULT_THRESHOLDS, Thresholds

    path = config_file(environment)
    table = _read_file(path, must_exist=CONFIG_VARIABLE in environment).get(_THRESHOLDS)
    if table is None:
        return DEFAULT_THRESHOLDS
    try:
        return msgspec.convert(table, Thresholds)
    except msgspec.ValidationError as e:
        raise BadSetting(f"[{_THRESHOLDS}] in {path} cannot be used: {e}.") from e


def _read_file(path: Path, *, must_exist: bool) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_FILE + 1)
        if len(text) > _LONGEST_FILE:
            raise BadSetting(f"{path} is no settings file: it holds more than {_LONGEST_FILE >> 20} MB.")
        content = tomllib.loads(text.decode())
    except FileNotFoundError:
        if must_exist:
            raise BadSetting(f"There is no settings file {path}, which {CONFIG_VARIABLE} names.") from None
        return {}
    except (OSError, ValueError, RecursionError) as e:
        raise BadSetting(f"The settings file {path} cannot be read: {e}") from e
    known = {_THRESHOLDS, *(setting.name for setting in SETTINGS)}
    unknown = sorted(content.keys() - known)
    if unknown:
        raise BadSetting(f"{path} sets {', '.join(unknown)}, which is no setting. Known are: {', '.join(sorted(known))}.")
    return content


def _checked(setting: Setting, value: object, where: str) -> object:
    try:
        return setting.read(value)
    except ValueError as e:
        raise BadSetting(f"{where} has to be {e}, not {f'{value!r}':.80}.") from e
