"""Guard lab: what another guard would have done with the same history, and where history can no longer tell."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from analysis import queries
from analysis.compare import IN_FORCE, calls_of, coverage_percent, coverage_sentence, proof_sentence
from analysis.inert_text import inert
from dashboard import empty_states, filters, flow, guard_examples, published, shell
from dashboard.charts import chart
from dashboard.figures.decisions import decision_matrix

EXAMPLES = 200
SPLITS = ("model", "version", "entry point")
DEFAULTS = ("id-breaker", "fingerprint")


def _chosen(guards: list[str]) -> tuple[str, str]:
    """Kept in the address. A guard that the store does not know, as an old link may name, is the default."""
    names = [IN_FORCE, *guards]
    chosen = []
    for column, key, name, default in zip(st.columns(2), ("base", "candidate"), ("Base", "Candidate"), DEFAULTS, strict=True):
        with column:
            index = names.index(default) if default in names else 0
            chosen.append(st.selectbox(name, names, index=index, key=key, bind="query-params", format_func=inert))
    return chosen[0], chosen[1]


def _numbers(coverage: dict[str, Any], changes: dict[str, int]) -> None:
    caught, missed = coverage["base_catches_replays"], coverage["base_misses_replays"]
    let_through = changes.get("replay-let-through", 0)
    trips = changes.get("trip-gained", 0) - changes.get("trip-lost", 0)
    shown = [
        ("Collisions released", changes.get("collision-released", 0), f"of {coverage['base_blocks_collisions']:,} blocked"),
        ("Replays let through", let_through, f"of {caught:,} caught"),
        ("Replays newly caught", changes.get("replay-newly-caught", 0), f"of {missed:,} missed"),
        ("Fresh calls newly blocked", changes.get("fresh-call-blocked", 0), f"of {coverage['base_executes']:,} run"),
        ("Trips", trips, f"more than the base's {coverage['base_trips']:,}"),
    ]
    flow.numbers([(name, f"{value:,}", beside) for name, value, beside in shown], width=164)


def _split(pairs: pl.DataFrame) -> None:
    by = st.pills("Split by", SPLITS, selection_mode="multi", key="split", bind="query-params") or []
    columns = [name.replace(" ", "_") for name in by]
    keys = ["basis", "base_decision", "candidate_decision", "class", *columns]
    # A turn can be in several of the finer rows, so only calls are summed.
    counted = pairs.group_by(keys).agg(pl.col("calls").sum(), pl.col("changes").first())
    counted = counted.with_columns(pl.col("changes").list.len().alias("change")).sort(
        ["basis", "change", "calls", *keys[1:]], descending=[True, True, True, *[False] * len(keys[1:])]
    )
    st.dataframe(
        [
            {
                "basis": row["basis"],
                "base": row["base_decision"],
                "candidate": row["candidate_decision"],
                "class": row["class"],
                **{name: inert(row[column] or "") for name, column in zip(by, columns, strict=True)},
                "calls": row["calls"],
                "changes": ", ".join(row["changes"]),
            }
            for row in counted.iter_rows(named=True)
        ],
        hide_index=True,
        column_config={
            "basis": st.column_config.TextColumn(width=116),
            "base": st.column_config.TextColumn(width=96),
            "candidate": st.column_config.TextColumn(width=96),
            "class": st.column_config.TextColumn(width=106),
            "calls": st.column_config.NumberColumn(width=70),
            "changes": st.column_config.TextColumn(width=380),
        },
        height=min(38 + 35 * counted.height, 640),
    )
    st.caption(
        "Observed: both guards still stand on history as it happened. Counterfactual: after the first decision of either that "
        "differs from what was done, in no count above. Not-reached: that guard had ended the turn."
    )


shell.draw("Guard lab")
with published.opened(filters.chosen()) as con:
    guards = [str(row[0]) for row in queries.run(con, "guard_names").rows]
    base, candidate = _chosen(guards)
    names: dict[str, Any] = {"base": base, "candidate": candidate}
    coverage: dict[str, Any] = queries.run(con, "guard_diff_coverage", **names).dicts()[0]
    changes = calls_of(queries.run(con, "guard_diff_changes", **names).dicts())
    pairs = queries.frame(con, "guard_diff", **names, by_model=True, by_version=True, by_entry_point=True)
    examples = queries.frame(con, "guard_diff_examples", **names, limit=EXAMPLES)

if not coverage["calls"]:
    empty_states.nothing_matches()
    st.stop()
_numbers(coverage, changes)
st.text(f"{coverage_sentence(coverage)} Coverage {coverage_percent(coverage):.1f} %.\n{proof_sentence(coverage, changes)}")
chart(decision_matrix(pairs.filter(pl.col("basis") == "observed")), "decisions")
st.subheader("By class", anchor=False)
_split(pairs)
guard_examples.draw(examples, base, candidate)
