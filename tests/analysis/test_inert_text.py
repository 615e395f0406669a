import pytest

from analysis.inert_text import inert, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größer ☃ 日本", "größer ☃ 日本"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"),
        ("a\u202eb", "a\\u202eb"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\u2028", "\\u2028"),
        ("lone \ud83d", "lone \\ud83d"),
        ("\U000e0041", "\\U000e0041"),
        ("C:\\new", "C:\\new"),
    ],
)
def test_what_would_be_acted_on_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_shortened_never_cuts_within_the_limit_and_says_when_it_cuts() -> None:
    assert shortened("abcd", 4) == "abcd"
    assert shortened("abcde", 4) == "abc…"
    assert len(shortened("\x1b" * 10, 8)) == 8
