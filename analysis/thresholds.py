"""The thresholds of the detectors: one declared, typed table.

A name here is the key of the setting; its bounds and its description are what the settings and the documentation read. The
client's own thresholds stand in `detectors/client_heuristics.py`: they are facts about the client and no setting.
"""

from __future__ import annotations

import zlib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=2, le=1_000_000)]


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    replays: Annotated[Count, Meta(description="Replays of one call, in one turn, that make a replay loop.")] = 3
    """Fewer happen to a model that recovers after the first synthetic answer (recording b2)."""
    collision_repeats: Annotated[
        Count, Meta(description="Repeats, in one turn, of a call whose id belongs to an earlier, different call.")
    ] = 3
    identical_in_a_row: Annotated[
        Count, Meta(description="Responses in a row that hold one and the same call, answered alike.")
    ] = 5
    batch_rounds: Annotated[
        Count, Meta(description="Responses in a row that hold one and the same batch of several calls, answered alike.")
    ] = 3
    cycle_period: Annotated[Count, Meta(description="The longest cycle looked for, in responses.")] = 6
    cycle_rounds: Annotated[Count, Meta(description="Times that a cycle has to come round.")] = 3
    cycle_calls: Annotated[Count, Meta(description="Calls that all rounds of a cycle have to hold together.")] = 6
    spread_in_turn: Annotated[Count, Meta(description="Responses of a turn that hold one call, answered alike, wherever.")] = 10
    spread_in_session: Annotated[
        Count, Meta(description="Responses of a session that hold one call, answered alike, over several turns.")
    ] = 20
    spread_turns: Annotated[Count, Meta(description="Turns over which the repeats of a session have to be spread.")] = 3
    dead_end_responses: Annotated[Count, Meta(description="The shortest stretch of responses that can be a dead end.")] = 20
    dead_end_share: Annotated[
        float, Meta(gt=0, le=1, description="Share of such a stretch that has to fail in one class of error.")
    ] = 0.75
    dead_end_in_a_row: Annotated[Count, Meta(description="Failing responses in a row that are a dead end by themselves.")] = 10
    invalid_parameters: Annotated[
        Count, Meta(description="Responses in a row whose call of one tool is refused for its parameters.")
    ] = 3
    empty_replies: Annotated[Count, Meta(description="Replies in a row with neither text nor call.")] = 5

    def stamp(self) -> int:
        """The same for the same values: findings made with others are stale."""
        return zlib.crc32(msgspec.json.encode(self))


DEFAULT_THRESHOLDS = Thresholds()
