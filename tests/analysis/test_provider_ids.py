"""What the client made of the provider's id, undone. The pairs stand in QWEN_CODE.md 3, seen in recordings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.provider_ids import history_id, provider_id


@pytest.mark.parametrize(
    ("recorded", "used", "provider", "source"),
    [
        ("call_1", set(), "call_1", "recorded"),
        ("call_1__qwen_dup_2", {"call_1"}, "call_1", "recovered"),
        ("call_1__qwen_dup_2", set(), "call_1__qwen_dup_2", "recorded"),
        ("call_1__qwen_dup_2__qwen_dup_2", {"call_1", "call_1__qwen_dup_2"}, "call_1__qwen_dup_2", "recovered"),
        ("call_1__qwen_dup_2:duplicate:2:0", {"call_1"}, "call_1", "recovered"),
        ("call_1796060741234_x7k2m9q", set(), None, "absent"),
        ("call_qwen_3", set(), None, "absent"),
        ("", set(), None, "absent"),
        ("null", set(), None, "absent"),
        (None, set(), None, "absent"),
    ],
)
def test_provider_id(recorded: str | None, used: set[str], provider: str | None, source: str) -> None:
    assert provider_id(recorded, used) == (provider, source)


@given(st.text(min_size=1).filter(lambda text: provider_id(text, set())[0] == text), st.integers(2, 999))
def test_taking_the_suffix_off_undoes_it(raw: str, number: int) -> None:
    assert provider_id(f"{raw}__qwen_dup_{number}", {raw}) == (raw, "recovered")


def test_the_mark_of_a_synthetic_call_is_no_part_of_the_id() -> None:
    assert history_id("call_1__qwen_dup_2:duplicate:2:0") == "call_1__qwen_dup_2"
    assert history_id("call_1") == "call_1"
