"""The overview's numbers against the three sessions of `made_store`, counted by hand."""

from copy import deepcopy
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from analysis.findings import SessionFindings
from tests.dashboard.conftest import OpenPage, texts
from tests.dashboard.made_store import HUNG, STOPPED, publish, session, three_kinds


def _numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def _links(app: AppTest) -> list[str]:
    return [link.proto.query_string for link in app.get("page_link")]


def test_headline_counts_main_sessions_and_names_sub_agents_beside(open_page: OpenPage) -> None:
    app = open_page()
    numbers = _numbers(app)
    assert numbers["Sessions"] == "3"
    assert numbers["Calls"] == "8", "3 + 3 + 2; the sub-agent's call is not among them"
    assert numbers["Silent hangs"] == "1"
    assert numbers["Looping turns"] == "1"
    assert numbers["Breaker trips"] == "2", "one of each guard in force; the other guards' trips on that replay are no trips"
    assert numbers["False alarms"] == "1"
    assert "and 1 sub-agent" in texts(app)
    assert "2 replays, 3 collisions" in texts(app)


def test_trips_stand_beside_the_calls_that_they_are_counted_over(open_page: OpenPage, tmp_path: Path) -> None:
    assert "by the guard in force; valid for 8 of 8 calls" in texts(open_page())
    known = three_kinds()
    # Of one call nobody can tell what the guard made of it, and of a session which guard it had.
    known[0].decisions[3].decision = "unknown"
    known.append(
        session(
            "odd", [("a", "first-use", "executed", "{}")], verdict="completed", reason="-", guard="unknown", version="0.22.0"
        )
    )
    app = open_page(on=publish(tmp_path / "odd.duckdb", known))
    assert "by the guard in force; valid for 7 of 9 calls" in texts(app)


def test_worst_first_with_reason_and_advice(open_page: OpenPage) -> None:
    app = open_page()
    assert [link.split("session=")[-1] for link in _links(app)] == [HUNG, STOPPED], "the session that went well is not listed"
    assert "the breaker ended the turn and nobody was told\n→ update the client to 0.23 or later" in texts(app)


def test_links_carry_the_filters_along(open_page: OpenPage) -> None:
    (link,) = _links(open_page(model="kimi-k3", since="2026-11-01"))
    assert link == f"since=2026-11-01&model=kimi-k3&session={HUNG}"


def test_filters_of_the_address_apply(open_page: OpenPage) -> None:
    assert _numbers(open_page(model="qwen3-coder"))["Sessions"] == "1"
    assert _numbers(open_page(version="0.24"))["Sessions"] == "2"
    assert _numbers(open_page(since="2026-11-21", until="2026-11-23"))["Sessions"] == "1", "until takes in its day"
    assert _numbers(open_page(project="shop"))["Sessions"] == "3"


def test_a_chosen_filter_is_written_into_the_address_and_a_cleared_one_taken_out(open_page: OpenPage) -> None:
    app = open_page(project="shop")
    app.selectbox(key="model").select("qwen3-coder").run()
    assert app.query_params == {"project": "shop", "model": "qwen3-coder"}
    assert _numbers(app)["Sessions"] == "1"
    app.selectbox(key="project").select_index(None).run()
    assert app.query_params == {"model": "qwen3-coder"}


def test_an_address_with_a_date_that_is_none_is_opened_without_it(open_page: OpenPage) -> None:
    app = open_page(since="yesterday", model="kimi-k3")
    assert app.query_params == {"model": "kimi-k3"}
    assert _numbers(app)["Sessions"] == "2"


def test_a_filter_of_a_value_that_nothing_has_stays_and_says_so(open_page: OpenPage) -> None:
    app = open_page(model="gpt-oss")
    assert app.selectbox(key="model").value == "gpt-oss"
    assert "No session matches the filters." in texts(app)
    app.button[0].click().run()
    assert _numbers(app)["Sessions"] == "3"


def test_coverage_says_how_many_of_how_many(open_page: OpenPage, tmp_path: Path) -> None:
    odd = session("odd", [("a", "unknown", "executed", "{}")], verdict="unknown", reason="-", guard="unknown", version="0.22.0",
                  entry_point="unknown")  # fmt: skip
    odd.calls[0].args_state = "redacted"
    numbers = _numbers(open_page(on=publish(tmp_path / "odd.duckdb", [*three_kinds(), odd])))
    assert numbers["Calls with whole arguments"] == "9 of 10"
    assert numbers["Sessions with known guard"] == "4 of 5"
    assert numbers["… and entry point"] == "4 of 5"


def test_nothing_to_look_at_says_how_much_was_looked_at(open_page: OpenPage, tmp_path: Path) -> None:
    app = open_page(on=publish(tmp_path / "well.duckdb", three_kinds()[2:]))
    assert "Nothing is stuck, looping or killed by a guard: 1 turn looked at." in texts(app)


@pytest.mark.parametrize("page", ["overview", "sessions", "session", "guard_lab"])
def test_a_day_anywhere_in_the_calendar_is_a_filter_like_any_other(page: str, open_page: OpenPage) -> None:
    app = open_page(page, since="0001-01-01", until="9999-12-31")
    assert [str(day.value) for day in app.date_input] == ["0001-01-01", "9999-12-31"]
    assert "No session matches" not in texts(app)


def test_the_last_day_of_the_calendar_leaves_out_nothing(open_page: OpenPage) -> None:
    assert _numbers(open_page(until="9999-12-31")) == _numbers(open_page())


def test_the_list_behind_the_first_few_holds_the_sub_agents_that_are_counted(open_page: OpenPage, tmp_path: Path) -> None:
    def to_the_list(hung: list[SessionFindings], store: str) -> str:
        for number, found in enumerate(hung):
            assert found.session is not None
            row = deepcopy(three_kinds()[0].findings[0])
            row.session_id, row.finding_id = found.session.session_id, str(number)
            found.findings.append(row)
        app = open_page(on=publish(tmp_path / store, hung))
        assert [link.proto.label for link in app.get("page_link")][-1].startswith(f"{len(hung) - 4} more have findings")
        return _links(app)[-1]

    mains = [session(f"m{n}", [], verdict="silent-hang", reason="-", guard="none", version="-", day=n) for n in range(5)]
    helper = session("m1/agent-x", [], verdict="silent-hang", reason="-", guard="none", version="-", parent="m1")
    assert to_the_list(deepcopy(mains), "mains.duckdb") == ""
    assert to_the_list([*mains, helper], "helper.duckdb") == "subagents=true"
