"""Ids that collide because of how somebody on the way makes them."""

from __future__ import annotations

from tests.cases.case import COLLISION, COUNTERFACTUAL_SUPPRESS, COUNTERFACTUAL_TRIP, DROP, FIRST, SAME_RESPONSE, SUPPRESS, Case
from tests.support.log_script import A, B, FinalAnswer, Log, Prompt, Use, answered, in_rounds, ok


def _clamped(length: int) -> Case:
    prefix = ("session-5e1c-" * 6)[: length - len("-tool-1")]
    ids = [f"{prefix}-tool-{number}"[:length] for number in range(1, 13)]
    return Case(
        name=f"A28 ids cut at {length}",
        reports="fitchmultz/pi-cursor-sdk#237, decolua/9router#396, leookun/cursor-byok#364",
        log=Log(
            (
                Prompt(),
                *in_rounds(*(Use(cut, {"command": f"make part-{number}"}) for number, cut in enumerate(ids))),
                FinalAnswer(),
            )
        ),
        classes=(*[FIRST] * 9, *[COLLISION] * 3),
        id_breaker={"1.10.1": SUPPRESS, "1.11.1": COUNTERFACTUAL_TRIP},
        trip_class=COLLISION,
        notes={number: ("length clamp", str(length)) for number in (10, 11, 12)},
        id_schemes=(f"cut at {length} by a client or gateway, not the model's doing",),
    )


CASES: tuple[Case, ...] = (
    Case(
        name="A13 composite id",
        reports="openclaw#110956; earendil-works/pi#781",
        log=Log(
            (
                Prompt(),
                *in_rounds(
                    Use("functions.gw:0|fc_a", {"path": "one"}, "gw"),
                    Use("call_other_1", A),
                    Use("call_other_2", B),
                    Use("functions.gw:0|fc_b", {"path": "two"}, "gw"),
                ),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, FIRST, FIRST, FIRST),
        classes_by_call_half=(FIRST, None, None, COLLISION),
    ),
    Case(
        name="A13 composite id hashed by the client",
        reports="openclaw#110956: the client's log holds one hash of the call half for both",
        log=Log(
            (
                Prompt(),
                *in_rounds(
                    Use("call_9f31c2", {"path": "one"}, "gw", provider_id="functions.gw:0|fc_a"),
                    Use("call_other_1", A),
                    Use("call_other_2", B),
                    Use("call_9f31c2", {"path": "two"}, "gw", provider_id="functions.gw:0|fc_b"),
                ),
                FinalAnswer(),
            ),
            on_disk=False,
        ),
        classes=(FIRST, FIRST, FIRST, FIRST),
        classes_by_call_half=(FIRST, None, None, COLLISION),
        notes={4: ("collision-prone",)},
    ),
    Case(
        name="A15 gateway numbers from zero per request",
        reports="OpenRouterTeam/ai-sdk-provider#48; sipeed/picoclaw#2528",
        log=Log(
            (
                Prompt(),
                answered(Use("tool_0_read", {"path": "a"}, "read"), Use("tool_1_read", {"path": "b"}, "read")),
                answered(Use("tool_0_read", {"path": "c"}, "read"), Use("tool_1_write", {"path": "d"}, "write")),
                FinalAnswer(),
            )
        ),
        classes=(FIRST, FIRST, COLLISION, FIRST),
        id_breaker={"1.2.1": SUPPRESS},
        id_schemes=("tool_N_NAME: numbered from zero in each request; only slots that keep their tool collide",),
    ),
    Case(
        name="A16 id made of the tool's name",
        reports="brainlid/langchain#620, run-llama/llama_index#20207",
        log=Log(
            (
                Prompt(),
                answered(Use("call-grep", {"pattern": "a"}, "grep")),
                answered(
                    Use("call-grep", {"pattern": "b"}, "grep"),
                    Use("call-grep", {"pattern": "c"}, "grep"),
                    by=(ok("call-grep", tool="grep"),),
                ),
                FinalAnswer(),
            ),
            on_disk=False,
        ),
        classes=(FIRST, COLLISION, SAME_RESPONSE),
        outcomes=("executed", "executed", "dropped"),
        id_breaker={"1.2.1": SUPPRESS, "1.2.2": DROP},
        fingerprint={"1.2.2": DROP},
        notes={3: ("payload differs",)},
        id_schemes=("name-only (adapter-made), scope none",),
    ),
    _clamped(64),
    _clamped(40),
    Case(
        name="A29 scheme changes with the model",
        reports="openclaw#109447, getkimchi/kimchi#1066",
        log=Log(
            (
                Prompt(),
                *(
                    answered(Use(f"toolu_01{number:022}", {"command": f"step {number}"}), model="model-a")
                    for number in range(10)
                ),
                FinalAnswer(),
                *(
                    step
                    for turn in range(3)
                    for step in (
                        Prompt(),
                        answered(Use("exec_0", {"command": f"turn {turn} begin"}), model="model-b"),
                        answered(Use("exec_1", {"command": f"turn {turn} end"}), model="model-b"),
                        FinalAnswer(),
                    )
                ),
                Prompt(),
                answered(Use(f"toolu_01{10:022}", {"command": "step 10"}), model="model-a"),
                FinalAnswer(),
            )
        ),
        classes=(*[FIRST] * 10, *[FIRST] * 2, *[COLLISION] * 4, FIRST),
        id_breaker={
            "3.1.1": SUPPRESS,
            "3.2.1": COUNTERFACTUAL_SUPPRESS,
            "4.1.1": SUPPRESS,
            "4.2.1": COUNTERFACTUAL_SUPPRESS,
        },
        id_schemes=("model-a: toolu_, global (two segments)", "model-b: exec_N, per turn"),
    ),
)
