"""Two calls in one response that are one, or look like one."""

from __future__ import annotations

from tests.cases.case import DROP, FIRST, SAME_RESPONSE, Case
from tests.support.log_script import A, B, C, FinalAnswer, Log, Prompt, RequestRefused, Use, answered, ok

CASES: tuple[Case, ...] = (
    Case(
        name="A10 one response, one id, other arguments",
        reports="vllm#33141 (n=2 choices); openclaw/openclaw#84730, #41119",
        log=Log(
            (
                Prompt(),
                answered(Use("f:5", A), Use("f:7", B), Use("f:7", C), by=(ok("f:5"), ok("f:7"))),
                FinalAnswer(),
            ),
            on_disk=False,
        ),
        classes=(FIRST, FIRST, SAME_RESPONSE),
        outcomes=("executed", "executed", "dropped"),
        id_breaker={"1.1.3": DROP},
        fingerprint={"1.1.3": DROP},
        notes={3: ("payload differs", "a distinct call was lost")},
    ),
    Case(
        name="A11 one response, one id, two slots",
        reports="a tool card shown twice, one of them running for ever",
        log=Log(
            (
                Prompt(),
                answered(
                    Use("t1", {"path": "p"}, "read_file"),
                    Use("t1", {"path": "p"}, "read_file"),
                    by=(ok("t1", tool="read_file"),),
                ),
                FinalAnswer(),
            ),
            on_disk=False,
        ),
        classes=(FIRST, SAME_RESPONSE),
        outcomes=("executed", "dropped"),
        id_breaker={"1.1.2": DROP},
        fingerprint={"1.1.2": DROP},
        notes={2: ("identical",)},
    ),
    Case(
        name="A31 two equal calls, two ids, one response",
        reports="hermes-agent#108584",
        log=Log(
            (
                Prompt(),
                answered(
                    Use("u1", {}, "list_directory"), Use("u2", {}, "list_directory"), by=(ok("u1", tool="list_directory"),)
                ),
                RequestRefused("a tool call has no result"),
            )
        ),
        classes=(FIRST, FIRST),
        outcomes=("executed", "unanswered"),
        verdict="provider-error",
        notes={1: ("identical in one response",), 2: ("identical in one response", "no result", "de-duplicated")},
    ),
)
