"""For each detector of loops: a log in which its sign stands so many times, and logs that only look like it.

`at(n)` gives the sign n times; the detector has to fire at its threshold and be silent at one less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.support.loop_log import Did, LoopLog

READ = "read_file"
STATUS = {"command": "make status"}


@dataclass(frozen=True)
class Shape:
    threshold: int
    at: Callable[[int], LoopLog]
    is_not: Mapping[str, Callable[[], LoopLog]] = field(default_factory=dict)


def status(result: str = "up", *, stable: str | None = None, call_id: str | None = None) -> Did:
    return Did(STATUS, result, stable=stable, call_id=call_id)


def look(name: str, result: str | None = None) -> Did:
    """A read that brings something new: each file has its own content."""
    return Did({"absolute_path": f"/p/{name}"}, result or f"content of {name}", tool=READ)


def edit(name: str) -> Did:
    return Did({"file_path": "/p/app.py", "old_string": name, "new_string": name + name}, tool="edit")


def failing(name: str, error_class: str = "file_not_found", **more: str) -> Did:
    return Did({"absolute_path": f"/p/{name}"}, f"no {name}", tool=READ, error_class=error_class, **more)


def in_turn(*steps: Did | tuple[Did, ...]) -> LoopLog:
    log = LoopLog().asked()
    for step in steps:
        log.did(*(step if isinstance(step, tuple) else (step,)))
    return log.done()


def between(*steps: Did) -> list[Did]:
    """Each of them with a read in between."""
    return [part for number, step in enumerate(steps) for part in (step, look(f"other-{number}"))]


def _replays(times: int) -> LoopLog:
    return in_turn(*[status(call_id="sh_1")] * (times + 1))


def _collisions(times: int) -> LoopLog:
    return in_turn(Did({"command": "make"}, call_id="sh_0"), *[status(call_id="sh_0")] * (times + 1))


def _empty(times: int) -> LoopLog:
    log = LoopLog().asked().did(status())
    for _ in range(times):
        log.replied()
    return log


def _empty_over_turns(times: int) -> LoopLog:
    log = LoopLog()
    for _ in range(times):
        log.asked().replied()
    return log


def _over_turns(times: int, turns: int = 4) -> LoopLog:
    log = LoopLog()
    for turn in range(turns):
        log.asked()
        for number in range(turn, times, turns):
            log.did(status()).did(look(f"{turn}-{number}"))
        log.done()
    return log


def _failing_of(failures: int, responses: int) -> LoopLog:
    """Spread evenly: never ten in a row."""
    marks = [number * failures // responses != (number - 1) * failures // responses for number in range(1, responses + 1)]
    return in_turn(*(failing(str(number)) if mark else look(str(number)) for number, mark in enumerate(marks)))


def _told(times: int, loop_type: str) -> LoopLog:
    log = LoopLog().asked().did(status())
    return log.told(loop_type) if times else log.done()


SHAPES: Mapping[str, Shape] = {
    "replay-loop": Shape(
        3,
        _replays,
        {
            "the result changes each time": lambda: in_turn(*(status(f"{n} of 9 done", call_id="sh_1") for n in range(9))),
            "an edit between any two (A6)": lambda: in_turn(
                *(part for n in range(9) for part in (status("3 failed", call_id="sh_0"), edit(str(n))))
            ),
            "one id for nine commands (A2)": lambda: in_turn(
                *(Did({"command": f"make {n}"}, call_id="sh_0") for n in range(9))
            ),
        },
    ),
    "collision-loop": Shape(
        3,
        _collisions,
        {
            "each under an id of its own": lambda: in_turn(Did({"command": "make"}), *[status()] * 4),
            "polling": lambda: in_turn(
                Did({"command": "make"}, call_id="sh_0"), *(status(f"{n} of 9 done", call_id="sh_0") for n in range(9))
            ),
        },
    ),
    "invalid-parameters": Shape(
        3,
        lambda times: in_turn(*(failing(str(n), "invalid_tool_params") for n in range(times))),
        {
            "another tool in between": lambda: in_turn(*between(*(failing(str(n), "invalid_tool_params") for n in range(9)))),
            "refused for another reason": lambda: in_turn(*(failing(str(n)) for n in range(9))),
            "three tools, once each": lambda: in_turn(
                *(Did({"a": 1}, "bad", tool=tool, error_class="invalid_tool_params") for tool in ("glob", "edit", READ))
            ),
        },
    ),
    "identical-in-a-row": Shape(
        5,
        lambda times: in_turn(*[status()] * times),
        {
            "polling with changing results (B4)": lambda: in_turn(*(status(f"{n} of 9 done") for n in range(9))),
            "nine in one response": lambda: in_turn(tuple([status()] * 9)),
            "never twice in a row": lambda: in_turn(*between(*[status()] * 9)),
            "paged reads": lambda: in_turn(
                *(Did({"absolute_path": "/p/a", "offset": n * 100}, f"page {n}", tool=READ) for n in range(9))
            ),
            "never answered": lambda: in_turn(*[Did(STATUS, None)] * 9),
        },
    ),
    "repeated-batch": Shape(
        3,
        lambda times: in_turn(*[(status(), look("a"), look("b"))] * times),
        {
            "one call of it sees progress": lambda: in_turn(*((status(f"{n} of 9"), look("a"), look("b")) for n in range(9))),
            "other files each time": lambda: in_turn(*((look(f"a{n}"), look(f"b{n}")) for n in range(9))),
        },
    ),
    "cycle": Shape(
        6,
        lambda times: in_turn(*(status() if n % 2 else look("a") for n in range(times))),
        {
            "one of the two sees progress": lambda: in_turn(
                *(part for n in range(9) for part in (look("a"), status(f"{n} of 9")))
            ),
            "search, move, edit over thirty files (B12)": lambda: in_turn(
                *(
                    part
                    for n in range(30)
                    for part in (
                        Did({"pattern": f"name-{n}"}, f"found {n}", tool="grep_search"),
                        Did({"command": f"git mv old-{n} new-{n}"}),
                        edit(f"name-{n}"),
                    )
                )
            ),
            "a period of seven": lambda: in_turn(*[look(str(n)) for n in range(7)] * 3),
        },
    ),
    "spread-out-repeats": Shape(
        10,
        lambda times: in_turn(*between(*[status()] * times)),
        {
            "the same result after each of fifteen edits": lambda: in_turn(
                *(part for n in range(15) for part in (edit(str(n)), status("build ok")))
            ),
            "fifteen different results": lambda: in_turn(*between(*(status(f"{n} of 15") for n in range(15)))),
            "fifteen in one response": lambda: in_turn(tuple([status()] * 15), *(look(str(n)) for n in range(9))),
        },
    ),
    "dead-end": Shape(
        10,
        lambda times: in_turn(*(failing(str(n), f"error_{n}") for n in range(times))),
        {
            "nine in a row, three times": lambda: in_turn(
                *(failing(str(n), f"error_{n}") if n % 10 else look(str(n)) for n in range(30))
            ),
            "fourteen of twenty": lambda: _failing_of(14, 20),
            "each response also holds a call that works": lambda: in_turn(
                *((failing(str(n)), look(str(n))) for n in range(30))
            ),
        },
    ),
    "empty-replies": Shape(
        5,
        _empty,
        {
            "with a call between them": lambda: in_turn(*(look(str(n)) for n in range(9))),
            "with text": lambda: _texts(9),
        },
    ),
    "text-loop": Shape(1, lambda times: _told(times, "repetitive_thoughts")),
    "client-loop-stop": Shape(1, lambda times: _told(times, "action_stagnation")),
    "empty-replies-across-turns": Shape(
        5,
        _empty_over_turns,
        {"an answer now and then": lambda: _with_an_answer_each_fourth(20)},
    ),
    "repeats-across-turns": Shape(
        20,
        _over_turns,
        {
            "over two turns": lambda: _over_turns(18, turns=2),
            "the result changes from turn to turn": lambda: _status_of_each_turn(30),
            "a timer asks for it": lambda: _by_a_timer(30),
        },
    ),
}


def _texts(times: int) -> LoopLog:
    log = LoopLog().asked()
    for _ in range(times):
        log.done()
    return log


def _with_an_answer_each_fourth(times: int) -> LoopLog:
    log = LoopLog()
    for number in range(times):
        log.asked().replied(text=number % 4 == 3)
    return log


def _status_of_each_turn(turns: int) -> LoopLog:
    log = LoopLog()
    for turn in range(turns):
        log.asked().did(status(f"{turn} commits ahead")).done()
    return log


def _by_a_timer(turns: int) -> LoopLog:
    log = LoopLog()
    for _ in range(turns):
        log.prompt("cron")
        log.did(status()).done()
    return log


def dead_end_of_one_class(failures: int, responses: int = 20) -> LoopLog:
    return _failing_of(failures, responses)
