from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.lenient_json import dumps, loads, storable

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_reads_what_javascript_reads() -> None:
    assert loads(b'"\\ud800"') == "\ud800"
    assert loads(b"1e400") == math.inf
    assert loads(b"-1e400") == -math.inf
    assert math.isnan(loads(b"NaN"))
    assert loads(b"9" * 5000) == math.inf
    assert loads(b"9" * 400) == int("9" * 400)


@pytest.mark.parametrize("text", [b"", b"{", b"{} {}", b'"\xff"', b"[" * 100_000, b"{'a':1}"])
def test_refuses_with_value_error_only(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        loads(text)


@given(VALUES)
def test_agrees_with_json_on_ordinary_documents(value: object) -> None:
    assert loads(json.dumps(value).encode()) == value
    assert loads(dumps(value)) == value


@given(st.text(st.characters()))
def test_stored_text_is_always_encodable_and_sound_text_is_kept(text: str) -> None:
    stored = storable(text)
    stored.encode("utf-8")
    sound = not any("\ud800" <= character <= "\udfff" for character in text)
    assert (stored == text) == sound
