"""The key against the client's own answers, and the short cut against the exact path.

data/golden_keys.json holds what Qwen Code 0.24.4's own functions answered for the edge cases (argument text,
canonical JSON, key); the remaining expected values are hashes of texts written out here by hand.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.fingerprint import canonical_json, canonical_name, exact_canonical_json, fingerprint
from ingest.readers import lenient_json

GOLDEN: list[dict[str, str]] = json.loads((Path(__file__).parent / "data" / "golden_keys.json").read_text("utf-8"))


def _decoded(text: str) -> Any:
    """As a reader decodes it: numbers and halves of surrogate pairs that msgspec refuses get their second chance."""
    try:
        return msgspec.json.decode(text.encode())
    except (msgspec.MsgspecError, UnicodeError):
        return lenient_json.loads(text.encode())


@pytest.mark.parametrize("row", GOLDEN, ids=[row["label"] for row in GOLDEN])
def test_key_is_the_clients(row: dict[str, str]) -> None:
    digest, canonical = fingerprint(row["name"], _decoded(row["args_text"]))
    assert canonical.decode() == row["canonical"]
    assert digest.hex() == row["key"]


def test_key_hashes_name_colon_json() -> None:
    digest, canonical = fingerprint("replace", {"b": [1.0], "a": "x"})
    assert canonical == b'{"a":"x","b":[1]}'
    assert digest == sha256(b'edit:{"a":"x","b":[1]}').digest()


def test_half_a_surrogate_pair_in_a_name_is_hashed_as_the_replacement_character() -> None:
    assert fingerprint("t\ud800", {})[0] == sha256("t\ufffd:{}".encode()).digest()


def test_no_arguments_are_empty_arguments() -> None:
    assert fingerprint("t", None) == fingerprint("t", {})


@pytest.mark.parametrize(
    ("retired", "current"), [("search_file_content", "grep_search"), ("replace", "edit"), ("task", "agent")]
)
def test_retired_names(retired: str, current: str) -> None:
    assert canonical_name(retired) == current
    assert canonical_name(current) == current


@pytest.mark.parametrize("name", ["Replace", "Edit", "Shell", "toString", "__proto__", "", "task "])
def test_other_names_stay(name: str) -> None:
    assert canonical_name(name) == name


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        (123456789012345680000.0, b"123456789012345680000"),
        (1e21, b"1e+21"),
        (1.5e300, b"1.5e+300"),
        (-1.25, b"-1.25"),
        (123456.789, b"123456.789"),
        (1e-6, b"0.000001"),
        (1.25e-6, b"0.00000125"),
        (1e-7, b"1e-7"),
        (1.25e-7, b"1.25e-7"),
        (-0.0, b"0"),
        (2**53 + 1, b"9007199254740992"),
        (-(2**53) - 1, b"-9007199254740992"),
        (10**21, b"1e+21"),
        (10**400, b"null"),
        (float("inf"), b"null"),
        (float("nan"), b"null"),
    ],
)
def test_numbers_print_as_doubles_in_javascript(number: float, printed: bytes) -> None:
    assert canonical_json(number) == printed


def test_deep_nesting_ends_in_no_recursion_error() -> None:
    depth = 100_000
    value: Any = 1
    for _ in range(depth):
        value = [{"a": value}]
    assert canonical_json(value) == b'[{"a":' * depth + b"1" + b"}]" * depth


keys = st.text(max_size=4) | st.sampled_from(["0", "01", "7", "10", "4294967294", "4294967295", "__proto__", "toJSON", "-1"])
texts = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud800", "\udc00x", "\u2028", "\x7f", "\x00", "/", "\ue000"])
numbers = (
    st.integers()
    | st.floats()
    | st.integers(2**53 - 2, 2**53 + 2)
    | st.integers(-(2**53) - 2, -(2**53) + 2)
    | st.integers(2**63 - 1, 2**64 + 1)
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)


@given(values)
@example({"a": {"b": [1, True, None, "é"]}, "Z": -1, "_": ""})
@example({"\ue000": 1, "\U0001f600": 2})
@example({"a": "\ud800"})
@example({"\udfff": 1})
def test_short_cut_and_exact_path_agree(value: Any) -> None:
    assert canonical_json(value) == exact_canonical_json(value)


@given(st.dictionaries(st.text("ab_-~Z", max_size=3), st.text() | st.booleans() | st.integers(-(2**53), 2**53), max_size=6))
def test_short_cut_and_exact_path_agree_on_ordinary_arguments(args: dict[str, Any]) -> None:
    assert canonical_json(args) == exact_canonical_json(args)
