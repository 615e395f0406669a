"""Tables and lists on terminals of a width that is counted here, and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from cli.layout import Cells, Details, Paragraph, Part, aligned, wrapped
from cli.table import Table
from cli.words import words

ID = "0123456789abcdef"


def drawn(part: Part, width: int | None) -> list[str]:
    return ["".join(text for text, _ in line).rstrip() for line in part.lines(width)]


def guards(number: int = 3) -> list[dict[str, object]]:
    names = ("none", "id-only", "fingerprint", "args")
    return [
        {"guard": names[at], "kind": "built-in", "about": f"what {at} does", "trips": at, "fails": None} for at in range(number)
    ]


COLUMNS = ("guard", "kind", "about", "trips", "fails")
HEADINGS = {"trips": "trips on calls"}


def table(number: int = 3, fold: Sequence[str] = ()) -> Table:
    return Table(COLUMNS, guards(number), HEADINGS, fold=fold)


def test_where_there_is_room_and_in_a_pipe_it_is_whole() -> None:
    whole = [
        "guard         kind       about         trips on calls   fails",
        "──────────────────────────────────────────────────────────────",
        "none          built-in   what 0 does                0   -",
        "id-only       built-in   what 1 does                1   -",
        "fingerprint   built-in   what 2 does                2   -",
    ]
    whole[1] = "─" * len(whole[0])
    assert drawn(table(), None) == drawn(table(), 200) == drawn(table(), len(whole[0])) == whole


def test_gaps_shrink_and_headings_break_first() -> None:
    # 7 + 8 + 11 + 14 + 5 and four gaps
    assert len(drawn(table(2), 57)[1]) == 45 + 4 * 3
    assert len(drawn(table(2), 56)[1]) == 45 + 4 * 2
    assert drawn(table(2), 52) == [
        " " * (7 + 2 + 8 + 2 + 11 + 2) + "trips on",
        "guard    kind      about           calls  fails",
        "───────────────────────────────────────────────",
        "none     built-in  what 0 does         0  -",
        "id-only  built-in  what 1 does         1  -",
    ]


def test_what_all_rows_say_is_said_once_and_what_none_says_not_at_all() -> None:
    assert drawn(table(), 42) == [
        "In all rows: kind built-in",
        "guard        about        trips on calls",
        "────────────────────────────────────────",
        "none         what 0 does               0",
        "id-only      what 1 does               1",
        "fingerprint  what 2 does               2",
    ]


def test_two_rows_that_are_alike_keep_their_columns() -> None:
    lines = drawn(table(2), 47)
    assert not lines[0].startswith("In all rows")
    assert all("built-in" in line for line in lines[-2:])


def test_columns_go_below_their_row_the_least_telling_first() -> None:
    assert drawn(table(fold=("about",)), 27) == [
        "In all rows: kind built-in",
        "guard        trips on calls",
        "───────────────────────────",
        "none                      0",
        "  about  what 0 does",
        "id-only                   1",
        "  about  what 1 does",
        "fingerprint               2",
        "  about  what 2 does",
    ]
    # Without a word of the table's the widest text goes; what is empty goes nowhere.
    assert drawn(table(), 27) == drawn(table(fold=("about",)), 27)


def test_one_column_is_left_however_narrow_it_is() -> None:
    lines = drawn(table(fold=("about",)), 8)
    assert [line for line in lines if line in ("none", "id-only")] == ["none", "id-only"]
    assert lines[-1].split() == ["2"]


def ids(number: int) -> Table:
    rows = [{"id": f"{at}{ID}", "calls": at} for at in range(number - 1)]
    rows.append({"id": f"9{ID}/agent-with-a-long-name", "calls": 99})

    def cut(text: str) -> str:
        main, slash, rest = text.partition("/")
        return main[:4] + slash + rest

    return Table(("id", "calls"), rows, short={"id": cut})


def test_ids_are_cut_where_there_is_no_room_and_a_much_longer_one_has_a_line_of_its_own() -> None:
    assert drawn(ids(10), None)[2] == f"0{ID}" + " " * 30 + "0"
    assert drawn(ids(10), 30) == [
        "id    calls",
        "───────────",
        *(f"{at}012      {at}" for at in range(9)),
        "9012/agent-with-a-long-name",
        "         99",
    ]


def test_a_paragraph_breaks_at_blanks_and_its_lead_keeps_its_style() -> None:
    part = Paragraph(" (certain): the guard tripped", lead="silent-hang", lead_style="red")
    first, second = part.lines(30)
    assert list(first) == [("silent-hang", "red"), (" (certain): the", "")]
    assert list(second) == [("guard tripped", "")]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 13, ["one two three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a abcdefghij", 4, ["a", "abcd", "efgh", "ij"]),
        ("漢字漢字", 4, ["漢字", "漢字"]),
        ("", 4, [""]),
        ("a  b", 9, ["a  b"]),
    ],
)
def test_wrapping(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines


def test_lines_stand_in_columns_whatever_their_width() -> None:
    assert [line.plain for line in aligned([("a", "漢字", 1), ("bbb", "x", 22)])] == ["a    漢字  1", "bbb  x     22"]
    assert aligned([]) == []


def test_a_line_without_room_goes_on_below_cell_by_cell() -> None:
    (line,) = aligned([("critical", "silent-hang", "kimi-k3", "2026-11-22 08:26Z")])
    assert drawn(line, 40) == ["critical  silent-hang  kimi-k3", "    2026-11-22 08:26Z"]
    assert drawn(line, 49) == [line.plain]
    (long,) = aligned([("turn 1", "a reason of several words that is long")])
    assert drawn(long, 34) == ["turn 1  a reason of several words", "        that is long"]


def test_a_shorter_line_is_taken_before_one_is_broken() -> None:
    (line,) = aligned([(ID, "trip")], [(ID[:4], "trip")])
    assert drawn(line, None) == drawn(line, 22) == [f"{ID}  trip"]
    assert drawn(line, 21) == ["0123  trip"]


def test_details_go_on_under_their_own_beginning() -> None:
    part = Details({"why": "the guard tripped on a replay", "see": "x"})
    assert drawn(part, 31) == ["  why  the guard tripped on a", "       replay", "  see  x"]
    assert drawn(part, None) == ["  why  the guard tripped on a replay", "  see  x"]


def test_no_part_lets_a_terminal_act() -> None:
    hostile = "\x1b[31m[bold]x"
    parts: list[Part] = [Paragraph(hostile), *aligned([(hostile,)]), Details({"a": hostile}), Table(("a",), [{"a": hostile}])]
    for part in parts:
        assert not any("\x1b" in line for line in drawn(part, 80))
        assert any("\\x1b[31m[bold]x" in line for line in drawn(part, 80))
    assert isinstance(parts[1], Cells)


def test_words() -> None:
    assert [words(value) for value in (None, True, False, 1.0, 0.123456789, [1, None], b"\x01")] == [
        "-", "yes", "no", "1", "0.123457", "1, -", "01",
    ]  # fmt: skip
    assert words(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02 03:04:05Z"
