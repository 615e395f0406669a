"""One id, two calls: the arguments of a call that reuses an id beside those of the call that had it first."""

from __future__ import annotations

import polars as pl
import streamlit as st

from analysis.inert_text import inert
from dashboard import args_compare, args_table, call_table


def draw(collisions: pl.DataFrame, made: pl.DataFrame) -> None:
    """Nothing where no id collides."""
    if collisions.is_empty():
        return
    st.subheader("One id, two calls", anchor=False)
    id_box, call_box = st.columns(2)
    with id_box:
        ids = collisions["provider_id"].unique(maintain_order=True).to_list()
        chosen_id = st.selectbox("Id of the provider", ids, key="id", bind="query-params", format_func=inert)
    pairs = {
        call_table.place_words(row): row for row in collisions.filter(pl.col("provider_id") == chosen_id).iter_rows(named=True)
    }
    with call_box:
        place = st.selectbox("Call", list(pairs), key="call", bind="query-params")
    pair = pairs[place]
    first_place = ".".join(str(pair[f"first_{part}"]) for part in call_table.PLACE)
    of_place = {call_table.place_words(call): call for call in made.iter_rows(named=True)}
    names = [
        f"{at}  {inert(tool)}: {of_place[at]['outcome']}"
        for at, tool in ((first_place, pair["first_tool"]), (place, pair["tool"]))
    ]
    differences = args_compare.compared(pair["first_args_json"], pair["args_json"])
    if differences is None:
        for name, at, text, column in zip(
            names, (first_place, place), (pair["first_args_json"], pair["args_json"]), st.columns(2), strict=True
        ):
            with column:
                st.text(f"{name}\n{of_place[at]['args_bytes']:,} bytes, of which this much is kept")
                st.code(inert(text), language=None, wrap_lines=True)
        return
    args_table.draw(differences, (names[0], names[1]))
