"""The detectors, in the order in which a person on call wants to read them. Of loops, the worst first: the one that says most
of the cause, so that calls which several of them see are counted with that one alone."""

from analysis.detectors import (
    cannot_tell,
    client_loop_stop,
    collision_loop,
    cycle,
    dead_end,
    empty_replies,
    ended_badly,
    fresh_calls_blocked,
    identical_in_a_row,
    invalid_parameters,
    repeated_batch,
    replay_loop,
    silent_hang,
    spread_out,
)
from analysis.detectors.base import Declared, Detector, Hit, SessionDetector, SessionView, TurnView

DETECTORS: tuple[Detector, ...] = (
    silent_hang.DETECTOR,
    replay_loop.DETECTOR,
    collision_loop.DETECTOR,
    invalid_parameters.DETECTOR,
    identical_in_a_row.DETECTOR,
    repeated_batch.DETECTOR,
    cycle.DETECTOR,
    empty_replies.IN_TURN,
    dead_end.DETECTOR,
    spread_out.IN_TURN,
    client_loop_stop.TEXT_LOOP,
    client_loop_stop.DETECTOR,
    fresh_calls_blocked.DETECTOR,
    ended_badly.PROVIDER_ERROR,
    ended_badly.CUT_OFF,
    cannot_tell.DETECTOR,
)

SESSION_DETECTORS: tuple[SessionDetector, ...] = (empty_replies.ACROSS_TURNS, spread_out.IN_SESSION)

__all__ = ["DETECTORS", "SESSION_DETECTORS", "Declared", "Detector", "Hit", "SessionDetector", "SessionView", "TurnView"]
