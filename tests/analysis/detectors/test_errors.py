"""Which errors are one class."""

from __future__ import annotations

import pytest

from analysis.detectors.errors import in_general
from tests.analysis.detectors.shapes import dead_end_of_one_class, failing, in_turn, look
from tests.analysis.detectors.test_every_detector import found, of_kind
from tests.support.loop_log import Did


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ENOENT: no such file '/p/a.py'", "ENOENT: no such file '/q/b.py'"),
        ("no such file: /p/a.py", "no such file: src/b/c.py"),
        ("timeout after 30 s", "timeout after 45 s"),
        ("task 0d865a3c-1111-4222-8333-123456789abc not found", "task 9f00aa11-2222-4333-9444-cba987654321 not found"),
        ('Tool "foo" not found in registry.', 'Tool "bar" not found in registry.'),
    ],
)
def test_the_same_error_of_two_cases(one: str, other: str) -> None:
    assert in_general(one) == in_general(other)


def test_other_words_are_another_error() -> None:
    assert in_general("permission denied: /p/a.py") != in_general("no such file: /p/a.py")


def test_three_quarters_of_twenty_in_one_class_are_a_dead_end() -> None:
    (row,) = of_kind(found(dead_end_of_one_class(15)), "dead-end")
    assert row.reason.startswith("15 of 20 responses failed in one way (file_not_found): read_file")
    assert of_kind(found(dead_end_of_one_class(14)), "dead-end") == []


def test_a_type_that_says_nothing_gives_way_to_the_first_line() -> None:
    def step(number: int) -> Did:
        return failing(str(number), "unknown", error_line=f"cannot reach host-{number:08}: timeout after {number} s")

    (row,) = of_kind(found(in_turn(*(step(number) if number % 4 else look(str(number)) for number in range(24)))), "dead-end")
    assert "(cannot reach ID: timeout after N s)" in row.reason


def test_two_classes_that_take_turns_are_no_dead_end_of_one() -> None:
    steps = [failing(str(number), ("a", "b")[number % 2]) if number % 5 else look(str(number)) for number in range(40)]
    assert of_kind(found(in_turn(*steps)), "dead-end") == []


@pytest.mark.parametrize("classes", [("a", "b"), ("b", "a"), ("x", "y"), ("y", "x"), ("one", "other"), ("other", "one")])
def test_of_two_classes_that_come_equally_often_the_first_is_named(classes: tuple[str, str]) -> None:
    steps = [(failing(f"{number}-0", classes[0]), failing(f"{number}-1", classes[1])) for number in range(20)]
    (row,) = of_kind(found(in_turn(*steps)), "dead-end")
    assert row.reason.startswith(f"20 of 20 responses failed in one way ({classes[0]})")


def test_a_sub_agents_log_names_no_type() -> None:
    """All that it says of a failure is its text."""
    steps = [failing(str(number), "error", error_line="params must have required property 'path'") for number in range(3)]
    (row,) = of_kind(found(in_turn(*steps)), "invalid-parameters")
    assert "params must have required property 'path'" in row.reason
