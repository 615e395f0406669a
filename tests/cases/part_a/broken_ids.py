"""Ids that are missing, made text, damaged, or left without their call."""

from __future__ import annotations

from tests.cases.case import FIRST, NO_ID, REPLAY, SUPPRESS, Case
from tests.support.log_script import A, B, FinalAnswer, Log, Prompt, RequestRefused, Round, Use, answered, failed, ok

CASES: tuple[Case, ...] = (
    Case(
        name="A12 call dropped, result kept",
        reports="open-webui/open-webui#28305, #28570",
        log=Log(
            (
                Prompt(),
                answered(Use("search_web:0", {"query": "one"}, "web_search")),
                # the result has no call; were it given to the call of the first round, that would be a failure
                Round((), (failed("search_web:0", "no network", "execution_failed", tool="web_search"),), has_text=True),
                FinalAnswer(),
                Prompt(),
                RequestRefused("tool result without a preceding tool call"),
            )
        ),
        classes=(FIRST,),
        verdict="provider-error",
        turn_verdicts=("completed", "provider-error"),
        problems=(("orphan-result", "search_web:0"),),
        id_schemes=("search_web: per round",),
    ),
    Case(
        name="A17 missing id made text",
        reports="apache/flink-agents#947; camel-ai/camel#3027, aliyun/alibabacloud-agent-toolkit#18",
        log=Log(
            (
                Prompt(),
                answered(
                    Use("null", {"path": "a"}, "read_file"),
                    Use("null", {"path": "a"}, "read_file"),
                    Use("null", {"path": "a"}, "list_directory"),
                    by=(  # by name, then by order
                        failed("null", "no such folder", "file_not_found", tool="list_directory"),
                        ok("null", tool="read_file"),
                        failed("null", "no such file", "file_not_found", tool="read_file"),
                    ),
                ),
                answered(Use("", {"path": "a"}, "read_file")),
                answered(Use(None, {"path": "a"}, "read_file")),
                FinalAnswer(),
            ),
            on_disk=False,
        ),
        classes=(NO_ID,) * 5,
        outcomes=("executed", "failed", "failed", "executed", "executed"),
        notes=dict.fromkeys(range(1, 6), ("by order",)),
    ),
    Case(
        name="A17 missing id replaced by the client",
        reports="the same fault as Qwen Code logs it: recordings d_missing_ids, d2_missing_ids_same_args",
        log=Log(
            (
                Prompt(),
                answered(Use("call_1796061863394_k3j9x2a", A), Use("call_1796061863394_p0q8z1m", A)),
                answered(Use("call_1796061864412_b7c2d9e", A)),
                FinalAnswer(),
            ),
            version="0.24.4",
        ),
        classes=(NO_ID,) * 3,
        guard_in_force="fingerprint",
    ),
    Case(
        name="A18 only the first call has an id",
        reports="yigit353/langchain-qwq#12",
        log=Log(
            (
                Prompt(),
                answered(
                    Use("c1", {"a": 1}, "add"),
                    Use("", {"a": 2}, "add"),
                    Use("", {"a": 3}, "multiply"),
                    by=(ok("c1", tool="add"), failed("", "overflow", "execution_failed", tool="add"), ok("", tool="multiply")),
                ),
                FinalAnswer(),
            ),
            on_disk=False,
        ),
        classes=(FIRST, NO_ID, NO_ID),
        outcomes=("executed", "failed", "executed"),
        notes={2: ("by order",), 3: ("by order",)},
    ),
    Case(
        name="A19 phantom call",
        reports="lmstudio-ai/lmstudio-bug-tracker#830; naming mismatch in the review of qwen-code#9436",
        log=Log(
            (
                Prompt(),
                answered(
                    Use("", None, tool=None),
                    # where the response names no tool, the client's answer names this one (0.24.4, code)
                    by=(failed("", "tool not found", "tool_not_registered", tool="undefined_tool_name"),),
                    has_text=True,
                ),
                RequestRefused("tool call without a function"),
            )
        ),
        classes=(NO_ID,),
        outcomes=("failed",),
        tools=("",),
        verdict="provider-error",
        notes={1: ("by order",)},
    ),
    Case(
        name="A19 absent name and placeholder",
        reports="review of qwen-code#9436: one nameless call, told once without a name and once with the client's word for it",
        log=Log(
            (
                Prompt(),
                answered(
                    Use("c1", {}, tool=None),
                    by=(failed("c1", "tool not found", "tool_not_registered", tool="undefined_tool_name"),),
                ),
                answered(
                    Use("c1", {}, tool="undefined_tool_name"),
                    by=(failed("c1", "tool not found", "tool_not_registered", tool="undefined_tool_name"),),
                ),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, REPLAY),
        outcomes=("failed", "failed"),
        tools=("", ""),
        id_breaker={"1.2.1": SUPPRESS},
        fingerprint={"1.2.1": SUPPRESS},
    ),
    Case(
        name="A27 id repeated inside itself",
        reports="langchain-ai/deepagentsjs#33",
        log=Log(
            (
                Prompt(),
                answered(Use("call_G7kQ", A), by=(ok("call_G7kQcall_G7kQcall_G7kQ"),)),
                answered(Use("call_H2mR", B)),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, FIRST),
        notes={1: ("corrupt id",)},
    ),
)
