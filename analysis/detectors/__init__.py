"""The detectors, in the order in which a person on call wants to read them."""

from analysis.detectors import (
    client_loop_stop,
    ended_badly,
    fresh_calls_blocked,
    identical_in_a_row,
    replay_loop,
    silent_hang,
)
from analysis.detectors.base import Detector, Hit

DETECTORS: tuple[Detector, ...] = (
    silent_hang.DETECTOR,
    replay_loop.DETECTOR,
    identical_in_a_row.DETECTOR,
    client_loop_stop.DETECTOR,
    fresh_calls_blocked.DETECTOR,
    ended_badly.PROVIDER_ERROR,
    ended_badly.CUT_OFF,
)

__all__ = ["DETECTORS", "Detector", "Hit"]
