import re
from importlib import resources

from dashboard.look import OUTCOMES, VERDICTS, badge_colour, verdict_words


def test_every_verdict_of_the_store_has_a_look_in_the_same_order() -> None:
    views = resources.files("ingest").joinpath("store", "views.sql").read_text(encoding="utf-8")
    ranks = re.findall(r"\('([a-z-]+)', (\d+)\)", views[views.index("verdict_ranks") : views.index("AS ranks")])
    assert list(VERDICTS) == [verdict for verdict, _ in sorted(ranks, key=lambda pair: int(pair[1]))]


def test_words_tell_verdicts_and_outcomes_apart_without_colour() -> None:
    assert len({look.sign for look in VERDICTS.values()}) == len(VERDICTS)
    assert len({look.symbol for look in OUTCOMES.values()}) == len(OUTCOMES)
    assert len({look.sign for look in OUTCOMES.values()}) == len(OUTCOMES)


def test_an_unknown_word_is_shown_and_not_refused() -> None:
    assert verdict_words("frozen") == "? frozen"
    assert badge_colour("frozen") == "gray"
