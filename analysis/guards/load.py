"""From what a person writes to a guard.

    GUARD[:KEY=VALUE,...]    a built-in guard, with other settings (what_if.py)
    PATH/TO/FILE.py:NAME     a class or an object in a Python file, in a process of its own (isolated.py)
    COMMAND ARGUMENT...      a program of its own (outside.py), started without a shell

Installed packages offer theirs by name, as entry points of the group `loopscope.guards`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from msgspec import structs

from analysis.guards import BUILT_IN, Contender
from analysis.guards.arguments import Source
from analysis.guards.base import GuardFailed, NoSuchGuard, RepeatGuard
from analysis.guards.checked import PythonGuard
from analysis.guards.isolated import IsolatedGuard
from analysis.guards.outside import OutsideGuard
from analysis.guards.what_if import what_if

GROUP = "loopscope.guards"
_PYTHON = re.compile(r"(?P<path>\S.*\.py):(?P<name>[A-Za-z_]\w*)\Z")
_BUILT_IN = {contender.name: contender for contender in BUILT_IN}


def load(name: str, text: str, source: Source, reply_seconds: float) -> Contender:
    """Raises NoSuchGuard, BadSettings, and CannotStart where a program cannot even be started."""
    base, _, settings = text.partition(":")
    if base in _BUILT_IN and not any(map(str.isspace, text)):
        repeat_guards = {known: one.guard for known, one in _BUILT_IN.items() if isinstance(one.guard, RepeatGuard)}
        if base in repeat_guards:
            return what_if(name, text, repeat_guards, source)
        if settings:
            raise NoSuchGuard(f"{base} has no settings")
        stock = _BUILT_IN[base]
        return structs.replace(stock, guard=structs.replace(stock.guard, name=name), source=f"what-if: {base}")  # type: ignore[type-var]
    if _PYTHON.match(text) is not None or text in _offered():
        return _isolated(name, text, reply_seconds)
    return _program(name, text, source, reply_seconds)


def load_python(name: str, text: str) -> PythonGuard:
    """A guard in Python, in this process. Raises NoSuchGuard."""
    if (found := _PYTHON.match(text)) is not None:
        return _python(name, _from_file(Path(found["path"]), found["name"]), text)
    point = _offered()[text]
    return _python(name, _of_package(point), source_of(text))


def source_of(text: str) -> str:
    """What stands behind a guard in Python: the file, or the package that offers it."""
    point = _offered().get(text)
    return text if point is None else f"{GROUP}: {point.value}"


def offered_names() -> frozenset[str]:
    return frozenset(_offered())


def _isolated(name: str, text: str, reply_seconds: float) -> Contender:
    """Started, since only then it is known whether there is such a guard. Where no process can be held it stays in ours."""
    if os.name != "posix":
        return Contender(load_python(name, text), source_of(text))
    guard = IsolatedGuard(name, text, reply_seconds)
    try:
        guard.start()
    except GuardFailed as e:
        raise NoSuchGuard(f"{text} cannot be loaded: {e}") from e
    return Contender(guard, source_of(text))


def _offered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _of_package(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (Exception, SystemExit) as e:
        raise NoSuchGuard(f"{point.value} cannot be loaded: {type(e).__name__}: {e}") from e


def _from_file(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"loopscope_guard_{abs(hash(str(path.resolve())))}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise NoSuchGuard(f"there is no Python file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and msgspec look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as e:  # a guard that exits must not end us with its own code
        raise NoSuchGuard(f"{path} cannot be loaded: {type(e).__name__}: {e}") from e
    if not hasattr(module, name):
        raise NoSuchGuard(f"{path} holds no {name!r}")
    return getattr(module, name)


def _python(name: str, found: Any, source: str) -> PythonGuard:
    try:
        guard = found() if isinstance(found, type) else found
    except (Exception, SystemExit) as e:
        raise NoSuchGuard(f"{source}: it cannot be made without arguments: {e}") from e
    if not callable(getattr(guard, "decide", None)):
        raise NoSuchGuard(f"{source} has no method decide(batch, handled, answered)")
    about = getattr(guard, "about", None) or (type(guard).__doc__ or "a guard in Python").strip().splitlines()[0]
    return PythonGuard(name, str(about), guard)


def _program(name: str, text: str, source: Source, reply_seconds: float) -> Contender:
    try:
        command = shlex.split(text)
    except ValueError as e:
        raise NoSuchGuard(f"{text!r} is no command: {e}") from e
    if not command:
        raise NoSuchGuard("the command is empty")
    return Contender(OutsideGuard(name, command, source, reply_seconds), f"program: {text}")
