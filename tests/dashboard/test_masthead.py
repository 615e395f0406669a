from datetime import timedelta

import pytest

from dashboard.masthead import age_in_words


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=119), "1 hour ago"),
        (timedelta(hours=47), "1 day ago"),
        (timedelta(days=400), "400 days ago"),
    ],
)
def test_age_in_words(age: timedelta, words: str) -> None:
    assert age_in_words(age) == words
