"""Calls repeated over responses: what each guard makes of them, and what the client did."""

from __future__ import annotations

from tests.cases.case import (
    COLLISION,
    COUNTERFACTUAL_DROP,
    COUNTERFACTUAL_EXECUTE,
    COUNTERFACTUAL_TRIP,
    DROP,
    FIRST,
    REPLAY,
    SUPPRESS,
    TRIP,
    Case,
)
from tests.support.log_script import (
    LOOP_SKIP,
    NOT_RECORDED,
    SHELL,
    A,
    B,
    C,
    FinalAnswer,
    Log,
    Prompt,
    Use,
    answered,
    cancelled,
    duplicate,
    in_rounds,
    not_started,
    ok,
)

APPEND = {"command": "echo line >> notes.txt"}
TESTS = {"command": "make test"}


def _edit(call_id: str, text: str) -> Use:
    return Use(call_id, {"file_path": "/p/a.py", "new_string": text}, "edit")


def _read(call_id: str, path: str) -> Use:
    return Use(call_id, {"path": path}, "read_file")


CASES: tuple[Case, ...] = (
    Case(
        name="A1 endless replay before the guard",
        reports="QwenLM/qwen-code#5014, #5641; charmbracelet/crush#3107",
        log=Log((Prompt(), *in_rounds(*[Use("shell_1", APPEND)] * 100))),
        classes=(FIRST, *[REPLAY] * 99),
        id_breaker={"1.2.1": SUPPRESS, "1.3.1": COUNTERFACTUAL_TRIP},
        fingerprint={"1.2.1": SUPPRESS, "1.3.1": COUNTERFACTUAL_TRIP},
        trip_class=REPLAY,
        verdict=None,
        looping="replay-loop",
    ),
    Case(
        name="A1 endless replay under the guard",
        reports="QwenLM/qwen-code#5014, #5641: three occurrences, one execution",
        log=Log(
            (
                Prompt(),
                answered(Use("shell_1", APPEND)),
                answered(Use("shell_1__qwen_dup_2", APPEND), by=(duplicate("shell_1__qwen_dup_2", "shell_1", reissue=True),)),
                answered(Use("shell_1__qwen_dup_3", APPEND), by=()),
            ),
            version="0.24.4",
        ),
        classes=(FIRST, REPLAY, REPLAY),
        outcomes=("executed", "suppressed", "dropped"),
        id_breaker={"1.2.1": SUPPRESS, "1.3.1": TRIP},
        fingerprint={"1.2.1": SUPPRESS, "1.3.1": TRIP},
        trip_class=REPLAY,
        verdict="stopped-visibly",
        looping="replay-loop",
        guard_in_force="fingerprint",
    ),
    Case(
        name="A2 restart at zero with fresh commands",
        reports="qwen-code#9436, vllm-project/vllm#50295, fw-ai/fireconnect#16",
        log=Log(
            (
                Prompt(),
                *in_rounds(Use("run_shell_command_0", A), Use("run_shell_command_0", B), Use("run_shell_command_0", C)),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, COLLISION, COLLISION),
        id_breaker={"1.2.1": SUPPRESS, "1.3.1": COUNTERFACTUAL_TRIP},
        trip_class=COLLISION,
    ),
    Case(
        name="A2 restart at zero under the guard by fingerprint",
        reports="qwen-code#9436: as 0.24.4 logs it, under suffixed ids",
        log=Log(
            (
                Prompt(),
                *in_rounds(
                    Use("run_shell_command_0", A),
                    Use("run_shell_command_0__qwen_dup_2", B),
                    Use("run_shell_command_0__qwen_dup_3", C),
                ),
                FinalAnswer(),
            ),
            version="0.24.4",
        ),
        classes=(FIRST, COLLISION, COLLISION),
        id_breaker={"1.2.1": SUPPRESS, "1.3.1": COUNTERFACTUAL_TRIP},
        trip_class=COLLISION,
        guard_in_force="fingerprint",
    ),
    Case(
        name="A6 re-run after an edit",
        reports="residual risk in qwen-code#9436",
        log=Log(
            (
                Prompt(),
                answered(Use("sh_0", TESTS), by=(ok("sh_0", "3 failed"),)),
                answered(_edit("edit_0", "one")),
                answered(Use("sh_0", TESTS), by=(ok("sh_0", "3 failed"),)),
                answered(_edit("edit_1", "two")),
                answered(Use("sh_0", TESTS), by=(ok("sh_0", "3 failed"),)),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, FIRST, REPLAY, FIRST, REPLAY),
        id_breaker={"1.3.1": SUPPRESS, "1.4.1": COUNTERFACTUAL_EXECUTE, "1.5.1": COUNTERFACTUAL_TRIP},
        fingerprint={"1.3.1": SUPPRESS, "1.4.1": COUNTERFACTUAL_EXECUTE, "1.5.1": COUNTERFACTUAL_TRIP},
        trip_class=REPLAY,
        notes={3: ("possible legitimate re-run",), 5: ("possible legitimate re-run",)},
    ),
    Case(
        name="A6 re-run with another result",
        reports="residual risk in qwen-code#9436: nothing in between, but the recorded result differs",
        log=Log(
            (
                Prompt(),
                answered(Use("sh_0", TESTS), by=(ok("sh_0", "3 failed"),)),
                answered(Use("sh_0", TESTS), by=(ok("sh_0", "1 failed"),)),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, REPLAY),
        id_breaker={"1.2.1": SUPPRESS},
        fingerprint={"1.2.1": SUPPRESS},
        notes={2: ("possible legitimate re-run",)},
    ),
    Case(
        name="A6 replay where nothing has changed",
        reports="the opposite of the residual risk: a file was read in between, and the result is the same",
        log=Log((Prompt(), *in_rounds(Use("sh_0", TESTS), _read("read_0", "a"), Use("sh_0", TESTS)), FinalAnswer())),
        classes=(FIRST, FIRST, REPLAY),
        id_breaker={"1.3.1": SUPPRESS},
        fingerprint={"1.3.1": SUPPRESS},
    ),
    Case(
        name="A21 recorded under the old guard",
        reports="end-to-end report in qwen-code#9436",
        log=Log(
            (
                Prompt(),
                answered(Use("run_shell_command_0", A)),
                answered(
                    Use("run_shell_command_0__qwen_dup_2", B),
                    by=(duplicate("run_shell_command_0__qwen_dup_2", "run_shell_command_0", reissue=False),),
                ),
                answered(Use("run_shell_command_0__qwen_dup_3", C), by=()),
            ),
            version="0.21.10",
        ),
        classes=(FIRST, COLLISION, COLLISION),
        outcomes=("executed", "suppressed", "dropped"),
        id_breaker={"1.2.1": SUPPRESS, "1.3.1": TRIP},
        fingerprint={"1.3.1": COUNTERFACTUAL_EXECUTE},
        trip_class=COLLISION,
        verdict="stopped-visibly",
        guard_in_force="id-breaker",
    ),
    Case(
        name="A21 kinds of synthetic answers",
        reports="end-to-end report in qwen-code#9436; texts of 0.24.4 (code)",
        log=Log(
            (
                Prompt(),
                answered(Use("k1", A)),
                answered(
                    Use("k1__qwen_dup_2", A),
                    Use("k2", {"command": "make k2"}),
                    Use("k3", {"command": "make k3"}),
                    Use("k4", {"command": "make k4"}),
                    Use("k5", {"command": "make k5"}),
                    Use("k6", {"command": "make k6"}),
                    Use("k7", {"command": "make k7"}),
                    by=(
                        duplicate("k1__qwen_dup_2", "k1", reissue=True),
                        not_started("k2", LOOP_SKIP, "unknown"),
                        not_started(
                            "k3",
                            "Skipped because a permission request was cancelled before the user answered;"
                            " user input is required before continuing.",
                            "execution_denied",
                        ),
                        not_started("k4", "Tool execution blocked by hook", "execution_denied"),
                        cancelled("k5"),
                        not_started(
                            "k6",
                            f'Qwen Code requires permission to use "{SHELL}", but that permission was declined.',
                            "execution_denied",
                        ),
                        not_started("k7", NOT_RECORDED, "unknown"),
                    ),
                ),
            ),
            version="0.24.4",
        ),
        classes=(FIRST, REPLAY, *[FIRST] * 6),
        # by a hook and by a person refused: `failed` as the word is meant (run or refused), told apart by their error class
        outcomes=("executed", "suppressed", "skipped", "skipped", "failed", "cancelled", "failed", "unanswered"),
        id_breaker={"1.2.1": SUPPRESS},
        fingerprint={"1.2.1": SUPPRESS},
        verdict=None,
        guard_in_force="fingerprint",
    ),
    Case(
        name="A22 breaker memory is a prompt's",
        reports="review thread on qwen-code#5657",
        log=Log(
            (
                Prompt(),
                answered(Use("x", A)),
                answered(Use("x__qwen_dup_2", A), by=(duplicate("x__qwen_dup_2", "x", reissue=False),)),
                FinalAnswer(),
                Prompt(),
                answered(Use("x__qwen_dup_3", A), by=(duplicate("x__qwen_dup_3", "x", reissue=False),)),
                FinalAnswer(),
            ),
            version="0.21.10",
        ),
        classes=(FIRST, REPLAY, REPLAY),
        outcomes=("executed", "suppressed", "suppressed"),
        id_breaker={"1.2.1": SUPPRESS, "2.1.1": SUPPRESS},
        fingerprint={"1.2.1": SUPPRESS, "2.1.1": SUPPRESS},
        guard_in_force="id-breaker",
    ),
    Case(
        name="A33 replay and collision in one batch",
        reports="derived from qwen-code#9436",
        log=Log(
            (
                Prompt(),
                answered(_read("a0", "a"), _read("b0", "a")),
                answered(
                    _read("a0__qwen_dup_2", "b"),
                    _read("b0__qwen_dup_2", "a"),
                    by=(ok("a0__qwen_dup_2", tool="read_file"), duplicate("b0__qwen_dup_2", "b0", reissue=True)),
                ),
                answered(_read("a0__qwen_dup_3", "c"), _read("b0__qwen_dup_3", "a"), by=()),
            ),
            version="0.24.4",
        ),
        classes=(FIRST, FIRST, COLLISION, REPLAY, COLLISION, REPLAY),
        outcomes=("executed", "executed", "executed", "suppressed", "dropped", "dropped"),
        id_breaker={
            "1.2.1": SUPPRESS,
            "1.2.2": SUPPRESS,
            "1.3.1": COUNTERFACTUAL_TRIP,
            "1.3.2": COUNTERFACTUAL_DROP,
        },
        fingerprint={"1.2.2": SUPPRESS, "1.3.1": DROP, "1.3.2": TRIP},
        trip_class=COLLISION,
        verdict="stopped-visibly",
        looping="replay-loop",
        guard_in_force="fingerprint",
        notes={1: ("identical in one response",), 2: ("identical in one response",)},
    ),
)
