"""Struct rows -> Arrow columns, by field names and types: the one mapping for facts and findings alike.

    str, Literal -> string     int -> int64 (`ts` and `*_at`: timestamp[us])     float -> double     bool -> bool
    bytes -> binary            list[str] -> list<string>                         dict[str, str] -> map<string, string>

Rows of findings and of sources go into the store in this way; records are packed (record_pack.py).

Rows come from logs, so a value may be one that no column holds: a lone surrogate, an integer of 30 digits. Arrow refuses the
whole column then; the slow path finds the value, keeps what can be kept (a surrogate is spelled out) or leaves it empty, and
reports it through `refused`, so that one hostile number costs a cell and not the file.
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, list[Any]]
"""Record batches by table."""

Refused = Callable[[int, str, object], None]
"""Called with the row's index, the column and the value that could not be kept."""


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
    """The fields' names and Arrow types; a field of Structs (calls, a place) has a table of its own and is left out."""
    columns = {field.name: _arrow_type(field.name, field.type) for field in msgspec.structs.fields(struct)}
    return {name: type_ for name, type_ in columns.items() if type_ is not None}


def _arrow_type(name: str, annotation: Any) -> Any:
    pa = arrow()
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        (annotation,) = (part for part in typing.get_args(annotation) if part is not types.NoneType)
    if typing.get_origin(annotation) is typing.Literal or annotation is str:
        return pa.string()
    if annotation is int:
        return pa.timestamp("us") if name == "ts" or name.endswith("_at") else pa.int64()
    simple = {
        float: pa.float64(),
        bool: pa.bool_(),
        bytes: pa.binary(),
        list[str]: pa.list_(pa.string()),
        dict[str, str]: pa.map_(pa.string(), pa.string()),
    }
    return simple.get(annotation)


def record_batch(rows: Sequence[msgspec.Struct], refused: Refused) -> Any:
    """Rows of one type, at least one, turned on their side: a column for each field that can be one."""
    kind = type(rows[0])
    types_of = fields(kind)
    getter = attrgetter(*types_of)
    values = zip(*map(getter, rows), strict=True) if len(types_of) > 1 else [[getter(row) for row in rows]]
    columns = {name: column(of, name, types_of[name], refused) for name, of in zip(types_of, values, strict=True)}
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


def column(values: Sequence[object], name: str, type_: Any, refused: Refused) -> Any:
    pa = arrow()
    try:
        return pa.array(values, type=type_)
    except (UnicodeEncodeError, OverflowError, pa.ArrowException):
        return pa.array([_storable(value, type_, i, name, refused) for i, value in enumerate(values)], type=type_)


def _storable(value: object, type_: Any, index: int, name: str, refused: Refused) -> object:
    pa = arrow()
    try:
        pa.array([value], type=type_)
    except UnicodeEncodeError:
        return _spelled_out(value)
    except (OverflowError, pa.ArrowException):
        refused(index, name, value)
        return None
    return value


def _spelled_out(value: object) -> object:
    """Lone surrogates as the text `\\udc00`: no column of UTF-8 holds them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_spelled_out(part) for part in value]
    if isinstance(value, dict):
        return {_spelled_out(key): _spelled_out(part) for key, part in value.items()}
    return value
