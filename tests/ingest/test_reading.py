from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.readers.base import Reader, Row, Sample
from ingest.reading import Outcome, ToRead, read_group
from ingest.records import Call, Place, Problem, Prompt, Response, SourceRecord
from ingest.store.record_pack import unpack
from tests.ingest.toy_run import ToyAnalysis


class LetterReader(Reader):
    """Made for these tests: `p` is a prompt, `c` a response with two calls, `!` damage, `x` a fault of the reader."""

    format = "letters"
    client = "toy"
    version = 1

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return False

    def feed(self, data: bytes) -> Iterator[Row]:
        for at, letter in enumerate(data.decode()):
            place = Place(self.source, at, 1, 1)
            if letter == "p":
                yield Prompt(place=place, session_id="s", ts=at)
            elif letter == "c":
                yield Response(place=place, session_id="s", tokens_in=10**30, calls=(Call("a", "t", 0), Call("b", "t", 1)))
            elif letter == "!":
                yield Problem("damaged", "a mark", at, 1)
            elif letter == "x":
                raise RuntimeError("a fault")

    def finish(self) -> Iterator[Row]:
        if self.source.endswith("torn"):
            yield Problem("torn-tail", "it ends early", 2, 1)


def read(tmp_path: Path, **files: str) -> tuple[list[Outcome], dict[str, list[dict[str, Any]]]]:
    to_read = []
    for number, (name, text) in enumerate(files.items(), start=1):
        (tmp_path / name).write_text(text)
        to_read.append(ToRead(number, str(tmp_path / name), name, len(text), LetterReader))
    group = read_group(to_read, ToyAnalysis())
    return group.outcomes, {t: [row for b in batches for row in b.to_pylist()] for t, batches in group.columns.items()}


def records(tables: dict[str, list[dict[str, Any]]]) -> list[SourceRecord]:
    return [record for row in tables["fact_log"] for record in unpack(row["packed"])]


def test_records_keep_their_source_and_their_order(tmp_path: Path) -> None:
    outcomes, tables = read(tmp_path, one="ppc", two="p")
    assert [(o.records, o.calls, o.read_bytes, o.problems) for o in outcomes] == [(3, 2, 3, 1), (1, 0, 1, 0)]
    assert [(row["source_id"], row["first_seq"], row["records"]) for row in tables["fact_log"]] == [(1, 0, 3), (2, 0, 1)]
    told = [(type(record), record.place.offset) for record in records(tables)]
    assert told == [(Prompt, 0), (Prompt, 1), (Response, 2), (Prompt, 0)]


def test_a_number_too_large_for_its_column_costs_a_cell_and_is_told_with_its_place(tmp_path: Path) -> None:
    _, tables = read(tmp_path, one="ppc")
    (response,) = [record for record in records(tables) if isinstance(record, Response)]
    assert (response.tokens_in, [call.recorded_id for call in response.calls]) == (None, ["a", "b"])
    (problem,) = tables["fact_problem"]
    assert (problem["source_id"], problem["byte_offset"], problem["line"]) == (1, 2, 1)
    assert problem["kind"] == "value-out-of-range"
    assert problem["detail"].startswith("tokens_in of a record")


def test_damage_is_counted_for_its_file_and_a_torn_tail_is_none(tmp_path: Path) -> None:
    outcomes, tables = read(tmp_path, damaged="p!p", torn="ppp")
    assert [(o.problems, o.torn, o.read_bytes) for o in outcomes] == [(1, False, 3), (0, True, 2)]
    assert [(row["source_id"], row["byte_offset"]) for row in tables["fact_problem"]] == [(1, 1)]


def test_a_reader_that_fails_loses_neither_what_came_before_nor_the_next_file(tmp_path: Path) -> None:
    outcomes, tables = read(tmp_path, failing="ppx", next="p")
    assert [o.records for o in outcomes] == [2, 1]
    (problem,) = tables["fact_problem"]
    assert problem["kind"] == "reader-failed"
    assert problem["detail"].endswith("RuntimeError: a fault")


def test_a_file_that_vanished_since_it_was_found_is_told(tmp_path: Path) -> None:
    group = read_group([ToRead(7, str(tmp_path / "nothing"), "nothing", 1, LetterReader)], ToyAnalysis())
    assert group.outcomes[0].unreadable == "No such file or directory"
    assert group.columns["fact_problem"][0].to_pylist()[0]["kind"] == "unreadable"
