"""The built-in guards, in the order of their history; the last two are what-ifs."""

from analysis.guards.any_fingerprint import AnyFingerprint
from analysis.guards.args_dedup import ArgsDedup
from analysis.guards.base import Answered, Decision, Guard
from analysis.guards.contender import Contender
from analysis.guards.fingerprint import Fingerprint
from analysis.guards.id_breaker import IdBreaker
from analysis.guards.id_only import IdOnly
from analysis.guards.none import NoGuard

GUARDS: tuple[Guard, ...] = (NoGuard(), IdOnly(), IdBreaker(), Fingerprint(), AnyFingerprint(), ArgsDedup())
BUILT_IN: tuple[Contender, ...] = tuple(
    Contender(guard, "built-in", rests_on="ids-and-turn" if isinstance(guard, ArgsDedup) else "ids") for guard in GUARDS
)

__all__ = ["BUILT_IN", "GUARDS", "Answered", "Contender", "Decision", "Guard"]
