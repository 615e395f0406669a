"""The list of sessions: filters, order and what the address keeps of them."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.dashboard.conftest import OpenPage, texts
from tests.dashboard.made_store import HUNG, STOPPED, SUB_AGENT, WELL


def _ids(app: AppTest) -> list[str]:
    return _column(app, "id")


def _column(app: AppTest, name: str) -> list[Any]:
    return list(app.dataframe[0].value[name])


def test_worst_first_by_default(open_page: OpenPage) -> None:
    app = open_page("sessions")
    assert _ids(app) == [HUNG, STOPPED, WELL]
    assert _column(app, "verdict") == ["■ silent-hang", "◆ stopped-visibly", "● completed"]
    assert "3 sessions" in texts(app)


def test_the_address_orders_and_filters(open_page: OpenPage) -> None:
    assert _ids(open_page("sessions", order="newest")) == [WELL, STOPPED, HUNG]
    assert _ids(open_page("sessions", order="replays")) == [STOPPED, WELL, HUNG]
    assert _ids(open_page("sessions", verdict=["completed", "silent-hang"])) == [HUNG, WELL]
    assert _ids(open_page("sessions", worst="stopped-visibly")) == [STOPPED]
    assert _ids(open_page("sessions", entry="headless")) == [WELL]
    assert _ids(open_page("sessions", model="kimi-k3")) == [HUNG, WELL]


def test_text_is_looked_for_in_id_folder_model_and_reason_whatever_the_case(open_page: OpenPage) -> None:
    assert _ids(open_page("sessions", text="22222222")) == [STOPPED]
    assert _ids(open_page("sessions", text="Nobody was told")) == [HUNG]
    assert _ids(open_page("sessions", text="QWEN3")) == [STOPPED]
    assert len(_ids(open_page("sessions", text="/shop"))) == 3


def test_text_is_no_pattern(open_page: OpenPage) -> None:
    assert "No session matches" in texts(open_page("sessions", text="%"))
    assert "No session matches" in texts(open_page("sessions", text="' OR true --"))


def test_sub_agents_are_shown_when_asked_for(open_page: OpenPage) -> None:
    app = open_page("sessions", subagents="true")
    assert SUB_AGENT in _ids(app)
    assert "3 sessions, 1 sub-agent" in texts(app)


def test_a_row_links_to_the_session_page_and_keeps_the_filters(open_page: OpenPage) -> None:
    app = open_page("sessions", model="qwen3-coder")
    assert _column(app, "link") == [f"/session?model=qwen3-coder&session={STOPPED}"]
