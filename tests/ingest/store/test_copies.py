"""Copies as words: each letter is a record, `/` cuts a line off, capital letters are told to be another file's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ingest.records import Place, Prompt, Response, Result
from ingest.store.copies import merge


def copy(letters: str, source: str) -> list[Prompt]:
    return [
        Prompt(place=Place(source, at * 10, 9, at + 1), session_id="s", uuid=letter, ts=ord(letter))
        for at, letter in enumerate(letters)
    ]


def merged(*copies: str) -> tuple[str, list[tuple[str, int]]]:
    """The letters, and copy and place (from 0) at which each goes its own way."""
    found = merge([copy(letters, str(number)) for number, letters in enumerate(copies)])
    letters = "".join(record.uuid or "" for record in found.records)
    return letters, [(place.source, place.line - 1) for place in found.divergent]


@pytest.mark.parametrize(
    ("copies", "expected", "divergent"),
    [
        (["abc"], "abc", []),
        (["abcab"], "abc", []),
        (["abc", "abc"], "abc", []),
        (["ab", "abcd"], "abcd", []),
        # a gap of the longest is filled where the other copy has it
        (["abdef", "abc"], "abcdef", [("1", 2)]),
        (["abdef", "abcd"], "abcdef", []),
        (["bcdef", "ab"], "abcdef", []),
        # cut at different ends
        (["abcd", "cdef"], "abcdef", []),
        (["cdef", "abcd"], "abcdef", []),
        # written on after they parted: the longest has the last word, whichever it is
        (["abcdef", "abxy"], "abxycdef", [("1", 2)]),
        (["abxy", "abcdef"], "abxycdef", [("0", 2)]),
        (["abcdef", "abxy", "abxyz"], "abxyzcdef", [("2", 2), ("1", 2)]),
        (["abcdef", "abxy", "abz"], "abxyzcdef", [("1", 2), ("2", 2)]),
        # parts of one log in two files, in order of time
        (["ef", "abcd"], "abcdef", []),
        (["abcd", "ef"], "abcdef", []),
        ([], "", []),
        (["", "ab"], "ab", []),
    ],
)
def test_merging(copies: list[str], expected: str, divergent: list[tuple[str, int]]) -> None:
    assert merged(*copies) == (expected, divergent)


def test_the_longest_counts_whatever_its_rank() -> None:
    found = merge([copy("ab", "short"), copy("abcd", "long")])
    assert {record.place.source for record in found.records} == {"long"}


def test_a_copy_that_ends_in_the_gap_of_the_longest_goes_no_other_way() -> None:
    """The longest lost `c`; its `d` says that it followed `c`."""
    longest, older = copy("abdef", "longest"), copy("abc", "older")
    longest[2] = replace(longest[2], parent_uuid="c")
    found = merge([longest, older])
    assert "".join(record.uuid or "" for record in found.records) == "abcdef"
    assert found.divergent == ()


def test_what_each_copy_lost_of_two_neighbours_comes_in_the_order_of_the_chain() -> None:
    one, two = copy("acd", "one"), copy("abd", "two")
    one[1], two[1] = replace(one[1], parent_uuid="b"), replace(two[1], parent_uuid="a")
    for copies in [one, two], [two, one]:
        assert "".join(record.uuid or "" for record in merge(copies).records) == "abcd"


@given(st.data())
def test_any_pieces_of_one_log_that_overlap_make_the_log_again(data: st.DataObject) -> None:
    log = "abcdefghijklmnop"
    kept = data.draw(st.lists(st.sets(st.sampled_from(log)), min_size=1, max_size=3))
    copies = [log, *("".join(letter for letter in log if letter in letters) for letters in kept)]
    order = data.draw(st.permutations(copies))
    letters, divergent = merged(*order)
    assert (letters, divergent) == (log, [])


def test_a_copy_that_overlaps_two_parts_joins_them() -> None:
    letters, _ = merged("cd", "ac", "abe")
    assert sorted(letters) == list("abcde")
    assert letters.index("a") < letters.index("c") < letters.index("d")


@given(st.lists(st.text("abcdefgh", max_size=12), max_size=4))
def test_each_record_comes_once_whatever_the_copies(copies: list[str]) -> None:
    letters, _ = merged(*copies)
    assert sorted(letters) == sorted(set("".join(copies)))


def test_records_of_one_line_stay_together_and_come_once() -> None:
    def line(source: str) -> list[Response | Result]:
        place = Place(source, 10, 9, 2)
        return [
            Response(place=place, session_id="s", uuid="u"),
            Result(place=place, session_id="s", uuid="u", recorded_id="a"),
            Result(place=place, session_id="s", uuid="u", recorded_id="b", part=1),
        ]

    again = [Result(place=Place("one", 90, 9, 5), session_id="s", uuid="u", recorded_id="a")]
    assert list(merge([[*line("one"), *again], line("two")]).records) == line("one")


def test_equal_records_without_uuid_are_as_many_as_the_copy_that_has_most() -> None:
    def equals(count: int, source: str) -> list[Prompt]:
        return [Prompt(place=Place(source, at, 1, at), session_id="s", ts=5) for at in range(count)]

    found = merge([equals(2, "one"), equals(3, "two")])
    assert [record.place for record in found.records] == [record.place for record in equals(3, "two")]


def says_otherwise(records: list[Prompt], at: int) -> list[Prompt]:
    return [replace(record, prompt_id="other") if index == at else record for index, record in enumerate(records)]


def test_a_record_of_a_copy_that_says_something_else_is_told_and_the_longest_counts() -> None:
    found = merge([copy("abcd", "long"), says_otherwise(copy("abc", "short"), 1)])
    assert [(place.source, place.line - 1) for place in found.differing] == [("short", 1)]
    assert [record.prompt_id for record in found.records] == [None] * 4
    assert found.divergent == ()


def test_two_records_of_one_uuid_in_one_file_are_told_unless_they_say_the_same() -> None:
    assert merge([copy("aba", "one")]).differing == ()
    found = merge([says_otherwise(copy("aba", "one"), 2)])
    assert [(place.source, place.line - 1) for place in found.differing] == [("one", 2)]
    assert [record.uuid for record in found.records] == ["a", "b"]


def test_what_a_reader_made_of_earlier_records_is_no_difference() -> None:
    def answer(source: str, stable: bytes) -> Result:
        return Result(place=Place(source, 0, 9, 1), session_id="s", uuid="u", recorded_id="a", stable_digest=stable)

    assert merge([[answer("one", b"1")], [answer("two", b"2")]]).differing == ()
