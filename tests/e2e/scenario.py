"""A scenario: what the scripted model says, prompt by prompt, and what each guard is expected to make of it.

One TOML file each in scenarios/, whose README.md tells how to write one. Whatever is wrong with a file is an error that names
it: a member that is not known would otherwise be a check that never runs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

FOLDER = Path(__file__).parent / "scenarios"
HANG_SECONDS = 30
MARKS = "marks.txt"

SUB_AGENT_TASK = "[scripted sub-agent] do the inner job"


class ScriptedCall(Struct, forbid_unknown_fields=True, frozen=True):
    id: str | None = None
    """None: the model leaves the id out."""
    same_id_as: int | None = None
    """Instead of `id`: the id of the conversation's n-th call (from 1) as the client sent it back to the model."""
    mark: str | None = None
    """A shell command that appends this word to a file: the side effect by which executions are counted."""
    hangs: bool = False
    """With `mark`: after the mark, the command's first execution goes on for HANG_SECONDS."""
    prints: int = 0
    """With `mark`: the command prints so many lines, for a history that is worth compressing."""
    tool: str = "run_shell_command"
    args: dict[str, Any] = {}
    """Besides those that `mark` makes."""
    one_chunk: bool = False
    """Sent in a single piece of the stream."""

    def arguments(self) -> dict[str, Any]:
        if self.mark is None:
            return self.args
        command = f"echo {self.mark} >> {MARKS}"
        if self.prints:
            command += f"; seq 1 {self.prints}"
        if self.hangs:
            command += f"; test -e hung || {{ touch hung; sleep {HANG_SECONDS}; }}"
        return {"command": command, "is_background": False, **self.args}


Response = tuple[ScriptedCall, ...]


class ScriptedPrompt(Struct, forbid_unknown_fields=True, frozen=True):
    responses: tuple[Response, ...] = ()
    """The model's responses with calls, in order; after them it says that it is done."""
    sub_agent: tuple[Response, ...] = ()
    """The same for a sub-agent that one of the calls starts."""
    text: str = "[scripted] do the job"
    """A text that begins with a slash is a command to the client."""
    kill_at: str | None = None
    """Kill the client (SIGKILL) when this mark appears; the session goes on with the next prompt in a new process."""
    prompt_tokens: int = 100
    """What the provider says that each request took: a large number makes a compaction worth the client's while."""

    @property
    def last_words(self) -> str:
        """A history that is said to be long has to look long."""
        return "All is done." + " There was much to tell." * (200 if self.prompt_tokens > 100 else 0)

    def is_turn(self, entry_point: str) -> bool:
        """Headless leaves no prompt of a command in its log, the daemon does."""
        return entry_point == "acp" or not self.text.startswith("/")


class Expectation(Struct, forbid_unknown_fields=True, frozen=True):
    guard: str
    entry_points: tuple[str, ...] = ("headless", "acp")
    runs: dict[str, int] = {}
    """How often each mark is executed in all."""
    ends: tuple[str, ...] = ()
    """The verdict of each turn."""


class Scenario(Struct, forbid_unknown_fields=True, frozen=True):
    about: str
    prompt: tuple[ScriptedPrompt, ...]
    expect: tuple[Expectation, ...]
    entry_points: tuple[str, ...] = ("headless", "acp")
    name: str = field(default="")


def load(path: Path) -> Scenario:
    try:
        scenario = msgspec.convert(tomllib.loads(path.read_text("utf-8")), Scenario)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}") from error
    return msgspec.structs.replace(scenario, name=path.stem)


def load_all(names: Sequence[str] = ()) -> list[Scenario]:
    return [load(path) for path in sorted(FOLDER.glob("*.toml")) if not names or path.stem in names]
