"""The comparison of two guards for the eye and for programs, from the same rows.

JSON is a list of objects like every command's; each says its `section` and the `format_version`, and a program takes the
sections that it knows: `summary` (one), `change`, `pair` (all calls, each once), `example`, `baseline`, `failure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis import queries
from analysis.compare import CHANGES, FORMAT_VERSION, calls_of, coverage_percent, coverage_sentence, proof_sentence
from cli.layout import Details, Paragraph, Part, aligned
from cli.places import short_place
from cli.session_ids import Shortener
from cli.table import Table

if TYPE_CHECKING:
    import duckdb

Row = dict[str, Any]

SPLITS = ("model", "version", "entry-point")
_HEADINGS = {"base_decision": "base", "candidate_decision": "candidate", "entry_point": "entry point"}


@dataclass
class Comparison:
    base: str
    candidate: str
    coverage: Row
    changes: list[Row]
    pairs: list[Row]
    examples: list[Row]
    baseline: list[Row] = field(default_factory=list)
    failures: list[Row] = field(default_factory=list)
    shortener: Shortener = field(default_factory=lambda: Shortener(None))

    @property
    def sentences(self) -> list[str]:
        return [coverage_sentence(self.coverage), proof_sentence(self.coverage, calls_of(self.changes))]


def compare(con: duckdb.DuckDBPyConnection, base: str, candidate: str, split_by: Iterable[str], examples: int) -> Comparison:
    def rows(name: str, **parameters: object) -> list[Row]:
        return queries.run(con, name, base=base, candidate=candidate, **parameters).dicts()

    split = {f"by_{name.replace('-', '_')}": name in split_by for name in SPLITS}
    (coverage,) = rows("guard_diff_coverage")
    return Comparison(
        base=base,
        candidate=candidate,
        coverage=coverage,
        changes=rows("guard_diff_changes"),
        pairs=rows("guard_diff", **split),
        examples=rows("guard_diff_examples", limit=examples),
        shortener=Shortener.of_store(con),
    )


def as_rows(comparison: Comparison) -> Iterator[Row]:
    """The list that `--format json` prints; empty where there was no call."""
    if not comparison.coverage["calls"]:
        yield from _section("failure", comparison.failures)
        return
    summary = {
        "base": comparison.base,
        "candidate": comparison.candidate,
        **comparison.coverage,
        "coverage_percent": round(coverage_percent(comparison.coverage), 2),
        "proof": comparison.sentences[1],
    }
    yield from _section("summary", [summary])
    about = {change.name: change.about for change in CHANGES}
    yield from _section("change", [{**row, "about": about[row["change"]]} for row in comparison.changes])
    yield from _section("pair", comparison.pairs)
    yield from _section("example", comparison.examples)
    yield from _section("baseline", comparison.baseline)
    yield from _section("failure", comparison.failures)


def _section(name: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for row in rows:
        yield {"format_version": FORMAT_VERSION, "section": name, **row}


def draw(comparison: Comparison, split_by: Sequence[str]) -> Iterator[Part]:
    yield Paragraph(f"From {comparison.base} to {comparison.candidate}")
    columns = ["basis", "base_decision", "candidate_decision", "class", *(name.replace("-", "_") for name in split_by)]
    yield Table([*columns, "calls", "turns", "sessions", "changes"], comparison.pairs, _HEADINGS, fold=("changes",))
    if comparison.changes:
        yield Paragraph("")
        yield Table(("change", "calls", "turns", "sessions"), comparison.changes)
    if comparison.examples:
        yield Paragraph("")
        yield from _examples(comparison.examples, comparison.shortener)
    if comparison.baseline:
        yield Paragraph("")
        yield Table(["call", "was", "now", "why"], comparison.baseline, short={"call": comparison.shortener.short_place})
    if comparison.failures:
        of_session = {"session_id": comparison.shortener.short}
        yield Paragraph("")
        yield Table(["guard", "session_id", "reason"], comparison.failures, fold=("reason",), short=of_session)


def _examples(examples: Sequence[Row], shortener: Shortener) -> Iterator[Part]:
    """A call and the one it is compared with, one below the other: what differs between them is the point."""
    heads = [
        (row["call"], f"{row['base_decision']} -> {row['candidate_decision']}", row["class"], row["model"]) for row in examples
    ]
    shorter = [(shortener.short_place(str(place)), *others) for place, *others in heads]
    for row, head in zip(examples, aligned(heads, shorter), strict=True):
        yield head
        details = {"call": f"{row['tool']} {row['args_json']}"}
        if row["earlier_call"] is not None:
            details["first under its id"] = f"{row['earlier_tool']} {row['earlier_args_json']}"
        if row["class_reason"] is not None:
            details["note"] = row["class_reason"]
        yield Details({**details, "see": short_place(str(row["evidence"]))})
