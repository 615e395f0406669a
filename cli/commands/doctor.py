"""`loopscope doctor`: what there is to read, what was read, and what is missing."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from cli import output
from cli.exit_codes import ExitCode
from cli.layout import Details, Line, Paragraph, Part, write_parts
from cli.table import Table
from cli.view import View, reading_options
from cli.words import words
from ingest.errors import LoopscopeError, NoStore, StoreBusy, StoreDamaged, StoreTooNew

_COLUMNS = ("subject", "name", "state", "files", "records", "problems", "detail")

_MISSING = {
    "qwen-chat": "without chat logs there are no sessions",
    "qwen-telemetry": "trips cannot be reconciled, and who called the model (entry point) is told by hints only",
    "qwen-agent-meta": "a sub-agent's trip cannot be told from a kill",
    "qwen-ledger": "of `qwen serve` only: whether a prompt ended",
    "qwen-usage": "whether a headless or terminal session ended in an orderly way",
}
"""What cannot be told without a format, for the formats whose absence matters."""


@click.command(short_help="What there is to read, what was read, what is missing.")
@reading_options
def doctor(view: View) -> int:
    """The store and its versions, the folders that `loopscope ingest` looks in, the rows that each format gave, and what
    cannot be told because it is missing. Filters do not change what is in the store, so they change nothing here."""
    rows = list(_versions())
    code = ExitCode.OK
    try:
        with view.open() as con:
            for row in _of_store(view.db, con):
                rows.append(row)
                code = ExitCode.STORE if row["state"] == "damaged" else code
    except NoStore as e:
        rows.append(_row("store", str(view.db), "missing", detail=str(e)))
        code = ExitCode.NO_DATA
    except LoopscopeError as e:
        rows.append(_row("store", str(view.db), "unreadable", detail=str(e)))
        code = ExitCode.STORE if isinstance(e, StoreBusy | StoreDamaged | StoreTooNew) else ExitCode.CANNOT_TELL
    rows += _roots()
    if view.format == "json":
        output.write_json(rows)
    elif view.format == "csv":
        output.write_csv(_COLUMNS, rows)
    else:
        write_parts([_Checkup(rows)])
    return code


class _Checkup:
    """Piped, one table like that of every command; on a terminal one a subject, of the columns that say something of it."""

    def __init__(self, rows: Sequence[Mapping[str, object]]) -> None:
        self._rows = rows

    def lines(self, width: int | None) -> Iterator[Line]:
        if width is None:
            yield from Table(_COLUMNS, self._rows).lines(None)
            return
        for subject, found in groupby(self._rows, key=lambda row: row["subject"]):
            yield from Paragraph(subject, "bold").lines(width)
            part: Part
            if subject in ("program", "store"):  # names and values, some of them long
                part = Details(
                    {str(row["name"]): " - ".join(filter(None, (str(row["state"]), str(row["detail"] or "")))) for row in found}
                )
            else:
                rows = list(found)
                part = Table(
                    [name for name in _COLUMNS[1:] if any(row[name] not in (None, "") for row in rows)], rows, fold=("detail",)
                )
            yield from part.lines(width)
            yield [("", "")]


def _row(subject: str, name: str, state: str, detail: str = "", **counts: object) -> dict[str, object]:
    given = {"subject": subject, "name": name, "state": state, "detail": detail, **counts}
    return {column: given.get(column) for column in _COLUMNS}


def _versions() -> Iterator[dict[str, object]]:
    for name in ("loopscope", "duckdb"):
        try:
            yield _row("program", name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield _row("program", name, "not installed", detail="runs from a folder; `make install` installs it")


def _of_store(db: Path, con: Any) -> Iterator[dict[str, object]]:
    from analysis import queries

    damaged = queries.damaged_tables(con)
    if damaged:
        (why, *_) = damaged.values()
        detail = f"cannot be read whole: {', '.join(damaged)} ({why}). `loopscope rebuild PATH...` makes it anew from the logs"
        yield _row("store", str(db), "damaged", detail)
    else:
        yield _row("store", str(db), "ok", f"{db.stat().st_size / 1e6:.1f} MB, all of it readable")
    about = {str(key): str(value) for key, value in queries.run(con, "doctor_store").rows}
    for key, value in about.items():
        if not key.endswith("_checksum") and not key.startswith("tool_seconds"):  # what only the program reads
            yield _row("store", key, value)
    for root in queries.run(con, "doctor_roots").dicts():
        there = "there" if Path(str(root["root"])).exists() else "gone"
        yield _row("ingested", str(root["root"]), there, _last_read(root), **_counts(root))
    given = queries.run(con, "doctor_formats").dicts()
    for row in given:
        parts = [f"{row[name]} {name.replace('_', ' ')}" for name in ("gone", "not_read", "tail_pending") if row[name]]
        state = "read" if row["records"] else "nothing read"
        yield _row("format", str(row["format"]), state, ", ".join([*parts, _last_read(row)]), **_counts(row))
    for missing, without in _MISSING.items():
        if missing not in {row["format"] for row in given}:
            yield _row("format", missing, "missing", without, files=0)


def _counts(row: dict[str, object]) -> dict[str, object]:
    return {name: row[name] for name in ("files", "records", "problems")}


def _last_read(row: dict[str, object]) -> str:
    return f"last read {words(row['last_read_at'])}"


def _roots() -> Iterator[dict[str, object]]:
    from cli.engine import default_roots

    for root in default_roots():
        yield _row("looked in", str(root), "there" if root.exists() else "missing")
