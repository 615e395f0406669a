import plotly.graph_objects as go
import polars as pl

from dashboard.figures.decisions import DECISIONS, decision_matrix, kind_of


def _pairs(*rows: tuple[str, str, int]) -> pl.DataFrame:
    schema = {"base_decision": pl.String, "candidate_decision": pl.String, "calls": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _cells(figure: go.Figure) -> dict[tuple[str, str], str]:
    rows, columns = list(figure.layout.yaxis.ticktext), list(figure.layout.xaxis.ticktext)
    return {(rows[int(note.y)], columns[int(note.x)]): note.text for note in figure.layout.annotations}


def test_each_pair_has_its_cell_with_number_and_word() -> None:
    figure = decision_matrix(_pairs(("execute", "execute", 1200), ("suppress", "execute", 7), ("execute", "trip", 2)))
    assert _cells(figure) == {
        ("execute", "execute"): "1,200",
        ("suppress", "execute"): "7<br>released",
        ("execute", "trip"): "2<br>newly blocked",
    }
    assert list(figure.layout.yaxis.ticktext) == ["execute", "suppress"]
    assert list(figure.layout.xaxis.ticktext) == ["execute", "trip"]


def test_rows_of_one_pair_are_summed() -> None:
    assert _cells(decision_matrix(_pairs(("drop", "drop", 1), ("drop", "drop", 2)))) == {("drop", "drop"): "3"}


def test_what_does_not_change_is_pale() -> None:
    figure = decision_matrix(_pairs(("execute", "execute", 1), ("trip", "suppress", 1)))
    assert [shape.opacity for shape in figure.layout.shapes] == [0.25, 0.9]


def test_a_decision_that_nobody_knows_makes_no_cell() -> None:
    assert _cells(decision_matrix(_pairs(("not-reached", "execute", 1), ("execute", "execute", 1)))) == {
        ("execute", "execute"): "1"
    }


def test_nothing_to_draw() -> None:
    assert _cells(decision_matrix(_pairs())) == {}


def test_every_change_has_a_word() -> None:
    for base in DECISIONS:
        for candidate in DECISIONS:
            assert bool(kind_of(base, candidate)[0]) == (base != candidate)
