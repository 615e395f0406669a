"""What makes two calls the same: names and arguments."""

from __future__ import annotations

from tests.cases.case import COLLISION, FIRST, REPLAY, SUPPRESS, UNKNOWN, Case
from tests.support.log_script import FinalAnswer, Log, Prompt, Use, answered, in_rounds

CASES: tuple[Case, ...] = (
    Case(
        name="A24 old and new name of one tool",
        reports="the client's alias table (source)",
        log=Log(
            (
                Prompt(),
                *in_rounds(Use("t1", {"prompt": "look"}, "task"), Use("t1", {"prompt": "look"}, "agent")),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, REPLAY),
        id_breaker={"1.2.1": SUPPRESS},
        fingerprint={"1.2.1": SUPPRESS},
    ),
    Case(
        name="A26 an odd key makes another call",
        reports="review of qwen-code#9436 (__proto__ as a key)",
        log=Log(
            (
                Prompt(),
                *in_rounds(Use("t1", {"a": 1}, "probe"), Use("t1", {"a": 1, "__proto__": {"b": 2}}, "probe")),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, COLLISION),
        id_breaker={"1.2.1": SUPPRESS},
    ),
    Case(
        name="A26 rewritten arguments beside the raw ones",
        reports="review of qwen-code#9436 (in-place mutation): the response holds the raw ones, the tool event those executed",
        log=Log(
            (
                Prompt(),
                answered(Use("t1", {"path": "a"}, "read_file", executed_args={"path": "/jail/a"})),
                answered(Use("t1", {"path": "a"}, "read_file")),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, REPLAY),
        id_breaker={"1.2.1": SUPPRESS},
        fingerprint={"1.2.1": SUPPRESS},
    ),
    Case(
        name="A26 rewritten arguments alone",
        reports="review of qwen-code#9436 (in-place mutation)",
        log=Log(
            (
                Prompt(),
                answered(Use("t1", {"path": "/jail/a"}, "read_file", args_state="rewritten")),
                answered(Use("t1", {"path": "a"}, "read_file")),
                FinalAnswer(),
            ),
            on_disk=False,
        ),
        classes=(FIRST, UNKNOWN),
        id_breaker={"1.2.1": SUPPRESS},
        fingerprint={"1.2.1": "unknown"},
        notes={2: ("rewritten",)},
    ),
)
