"""Pages run without a browser, on a store of known content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from tests.dashboard.made_store import publish, three_kinds

APP = Path(dashboard.__file__).with_name("app.py")

OpenPage = Callable[..., AppTest]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return publish(tmp_path / "store.duckdb", three_kinds())


@pytest.fixture
def open_page(db: Path, monkeypatch: pytest.MonkeyPatch) -> OpenPage:
    """`open_page("session", session=ID)` opens that address; `on` names another store than the three kinds."""

    def opened(page: str = "overview", *, on: Path | None = None, **address: str | list[str]) -> AppTest:
        monkeypatch.setenv("LOOPSCOPE_DB", str(on or db))
        app = AppTest.from_file(APP, default_timeout=60)
        for name, value in address.items():
            app.query_params[name] = value
        if page != "overview":
            app.switch_page(f"pages/{page}.py")
        app.run()
        assert not app.exception, app.exception[0].stack_trace
        return app

    return opened


def texts(app: AppTest) -> str:
    """All that a person reads on the page, apart from tables and figures."""
    kinds = ("text", "caption", "info", "error", "success", "code", "markdown", "subheader")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))
