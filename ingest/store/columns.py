"""Struct rows -> Arrow columns, by field names and types: the one mapping for facts and findings alike.

    str -> string     int -> int64 (`ts` and `*_at`: timestamp[us])     float -> double     bool -> bool
    bytes -> binary   list[str] -> list<string>

What rows say comes from logs in the end, so a text may hold a lone surrogate, which no column does: it is spelled out. A number
that no column holds cannot come from facts that were stored (record_pack.py): it is a fault of this program, and told as one.
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from ingest.readers.lenient_json import storable

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, list[Any]]
"""Record batches by table."""


class _NoPandas:
    """`pyarrow.array(list)` imports pandas where it is installed, 1 s of CPU in each process; nothing here needs it."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


@cache
def arrow() -> Any:
    """pyarrow, told once that there is no pandas (it asks again by itself when somebody wants a data frame)."""
    if "pandas" in sys.modules:
        import pyarrow
    else:
        block = _NoPandas()
        sys.meta_path.insert(0, block)
        try:
            import pyarrow

            pyarrow.array([None])
        finally:
            sys.meta_path.remove(block)
    return pyarrow


@cache
def fields(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields' names and Arrow types. Raises KeyError for a field of a type that no row has yet."""
    return {field.name: _arrow_type(field.name, field.type) for field in msgspec.structs.fields(struct)}


def _arrow_type(name: str, annotation: Any) -> Any:
    pa = arrow()
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        (annotation,) = (part for part in typing.get_args(annotation) if part is not types.NoneType)
    if annotation is int:
        return pa.timestamp("us") if name == "ts" or name.endswith("_at") else pa.int64()
    simple = {
        str: pa.string(),
        float: pa.float64(),
        bool: pa.bool_(),
        bytes: pa.binary(),
        list[str]: pa.list_(pa.string()),
    }
    return simple[annotation]


def record_batch(rows: Sequence[msgspec.Struct]) -> Any:
    """Rows of one type, at least one and of two fields or more, turned on their side. Raises ValueError where a value fits no
    column."""
    kind = type(rows[0])
    types_of = fields(kind)
    values = zip(*map(attrgetter(*types_of), rows), strict=True)
    columns = {name: column(of, f"{kind.__name__}.{name}", types_of[name]) for name, of in zip(types_of, values, strict=True)}
    return arrow().RecordBatch.from_pydict(columns)


def insert_columns(con: duckdb.DuckDBPyConnection, table: str, batches: list[Any], of: Sequence[str] | None = None) -> None:
    """`table` is a name from this package, never text of a log. of: only the rows of these sessions."""
    con.register("arriving", arrow().Table.from_batches(batches))
    chosen = "" if of is None else " WHERE session_id IN (SELECT unnest(?::VARCHAR[]))"
    try:
        con.execute(f"INSERT INTO {table} BY NAME SELECT * FROM arriving{chosen}", [] if of is None else [list(of)])
    except BaseException:
        with suppress(Exception):  # the first error is the one to tell
            con.unregister("arriving")
        raise
    con.unregister("arriving")


def column(values: Sequence[object], name: str, type_: Any) -> Any:
    pa = arrow()
    try:
        return pa.array(values, type=type_)
    except (UnicodeEncodeError, OverflowError, pa.ArrowException):
        return pa.array([_storable(value, type_, name) for value in values], type=type_)


def _storable(value: object, type_: Any, name: str) -> object:
    pa = arrow()
    try:
        pa.array([value], type=type_)
    except UnicodeEncodeError:
        return storable(value) if isinstance(value, str) else [storable(part) for part in value]  # type: ignore[attr-defined]
    except (OverflowError, pa.ArrowException) as e:
        raise ValueError(f"{name} fits no column: {value!r}") from e
    return value
