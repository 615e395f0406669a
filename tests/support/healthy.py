"""Sessions in which all is well, made from a seed: what an agent honestly does over and over, and no finding may name.

Builds after each edit that all say the same, tests that fail for a dozen rounds while the code changes, polling, files read
page by page, sweeps over many files, a look at the repository in every turn, errors from which the model recovers. Every shell
answer ends with a process group of its own, as the client writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.support.log_script import SHELL, Answer, FinalAnswer, Log, Prompt, Round, Step, Use

READ, EDIT, SEARCH, LIST = "read_file", "edit", "grep_search", "list_directory"
VERSIONS = ("0.15.10", "0.21.10", "0.24.4")
WORDS = ("parser", "store", "session", "config", "router", "cache", "report", "worker")


class _Session:
    def __init__(self, random: Random) -> None:
        self.random = random
        self._calls = 0
        self._edits = 0
        self._numbers_its_calls = random.random() < 0.3

    def steps(self) -> Iterator[Step]:
        for _ in range(min(self.random.randint(1, 8), self.random.randint(1, 8))):
            yield Prompt()
            if self.random.random() < 0.7:
                yield self.ran("git status --short", "nothing to commit, working tree clean")
            for kind in self.random.sample(_KINDS, self.random.randint(0, 2)):
                yield from kind(self)
            yield FinalAnswer()

    def name(self) -> str:
        return f"src/{self.random.choice(WORDS)}_{self.random.randrange(10_000)}.py"

    def call_id(self) -> str:
        self._calls += 1
        return f"functions.tool:{self._calls}" if self._numbers_its_calls else f"call_{self.random.getrandbits(96):024x}"

    def one(self, args: dict[str, Any], text: str, tool: str, *, error_type: str | None = None) -> tuple[Use, Answer]:
        call_id = self.call_id()
        status = "success" if error_type is None else "error"
        return Use(call_id, args, tool), Answer(call_id, text, status, error_type, tool=tool)  # type: ignore[arg-type]

    def shell(self, command: str, output: str) -> tuple[Use, Answer]:
        group = self.random.choice(["(none)", str(self.random.randrange(2, 99_999))])
        text = f"Command: {command}\nDirectory: (root)\nOutput: {output}\nExit Code: 0\nProcess Group PGID: {group}"
        args = {"command": command, "is_background": False, "description": f"Step {self._calls}: {self.random.choice(WORDS)}"}
        return self.one(args, text, SHELL)

    def ran(self, command: str, output: str) -> Round:
        return _round(self.shell(command, output))

    def read(self, name: str, **more: int) -> tuple[Use, Answer]:
        return self.one({"absolute_path": f"/p/{name}", **more}, f"{self.random.getrandbits(64)} is in {name}", READ)

    def edit(self, name: str) -> Round:
        self._edits += 1
        args = {"file_path": f"/p/{name}", "old_string": f"x = {self._edits - 1}", "new_string": f"x = {self._edits}"}
        return _round(self.one(args, f"Successfully modified file: /p/{name}", EDIT))

    def exploring(self) -> Iterator[Step]:
        yield _round(self.one({"path": "/p/src"}, "\n".join(self.name() for _ in range(9)), LIST))
        for _ in range(self.random.randint(3, 25)):
            if self.random.random() < 0.3:
                word = f"{self.random.choice(WORDS)}_{self.random.randrange(1000)}"
                yield _round(self.one({"pattern": word}, f"{self.random.randrange(40)} matches of {word}", SEARCH))
            else:
                yield _round(*(self.read(self.name()) for _ in range(self.random.randint(1, 4))))

    def building_after_each_edit(self) -> Iterator[Step]:
        name = self.name()
        for _ in range(self.random.randint(2, 25)):
            yield self.edit(name)
            yield self.ran("make build", "build finished")

    def failing_tests(self) -> Iterator[Step]:
        name, failures = self.name(), self.random.randint(2, 12)
        for failed in range(failures, -1, -1):
            for _ in range(self.random.randint(1, 2)):
                yield self.edit(name)
                yield self.ran("make test", f"{failed} failed, 40 passed in {self.random.uniform(1, 9):.2f}s")

    def polling(self) -> Iterator[Step]:
        for done in range(self.random.randint(4, 20)):
            yield self.ran("gh run view --json status", f'{{"done":{done},"durationMs":{self.random.randrange(9999)}}}')

    def paged_reading(self) -> Iterator[Step]:
        name = self.name()
        for page in range(self.random.randint(5, 20)):
            yield _round(self.read(name, offset=page * 200, limit=200))

    def sweeping(self) -> Iterator[Step]:
        for _ in range(self.random.randint(5, 30)):
            name = self.name()
            yield _round(self.one({"pattern": name}, f"{name}:1: import", SEARCH))
            yield self.ran(f"git mv {name} lib/{name}", "")
            yield self.edit(f"lib/{name}")

    def sweeping_in_one_response(self) -> Iterator[Step]:
        yield _round(*(self.shell("git status --short", "") for _ in range(self.random.randint(2, 12))))

    def recovering(self) -> Iterator[Step]:
        for _ in range(self.random.randint(1, 2)):
            yield _round(self.one({"file_path": 7}, "params/file_path must be string", EDIT, error_type="invalid_tool_params"))
        for _ in range(self.random.randint(1, 6)):
            name = self.name()
            yield _round(self.one({"absolute_path": name}, f"File not found: {name}", READ, error_type="file_not_found"))
        yield self.edit(self.name())

    def asking_again_a_few_times(self) -> Iterator[Step]:
        for _ in range(self.random.randint(1, 4)):
            yield self.ran("git log -1 --oneline", "1f2e3d begin")
            yield _round(self.read(self.name()))


_KINDS = (
    _Session.exploring,
    _Session.building_after_each_edit,
    _Session.failing_tests,
    _Session.polling,
    _Session.paged_reading,
    _Session.sweeping,
    _Session.sweeping_in_one_response,
    _Session.recovering,
    _Session.asking_again_a_few_times,
)


def _round(*made: tuple[Use, Answer]) -> Round:
    return Round(tuple(use for use, _ in made), tuple(answer for _, answer in made))


def healthy_log(seed: int) -> Log:
    random = Random(seed)
    return Log(tuple(_Session(random).steps()), version=random.choice(VERSIONS))
