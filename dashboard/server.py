"""The dashboard's server process: `python -m dashboard.server --port PORT [--headless]`, the store in LOOPSCOPE_DB.

Streamlit runs no line of ours before the first browser comes, and that first page would then wait for pandas, Plotly and
Polars to be imported; a thread imports them while the person still switches windows. The settings stand here and not in
`.streamlit/config.toml`, which Streamlit looks for in the folder it happens to be started in.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from dashboard.loopback import LoopbackOnly

HOST = "127.0.0.1"
"""Not an option: logs are private, and Streamlit asks nobody for a password."""

_SETTINGS = {
    "server.address": HOST,
    "server.fileWatcherType": "none",
    # Else Streamlit advertises its own things on our page and on stdout, with a button that writes into the user's folders.
    "logger.hideWelcomeMessage": True,
    "server.showEmailPrompt": False,
    "browser.gatherUsageStats": False,
    # With magic on, a bare expression of a page would be drawn as Markdown.
    "runner.magicEnabled": False,
    "client.toolbarMode": "minimal",
    # The browser gets an error's type, the terminal all of it: a message may quote a log.
    "client.showErrorDetails": "type",
}


def run(port: int, headless: bool) -> None:
    """Until it is interrupted."""
    # A folder named `pages` beside the app makes Streamlit run a page without the app, until the app has run once: a link
    # pasted into a fresh server would open without its filters and without the demo's label.
    PagesManager.uses_pages_directory = False
    logging.disable(logging.INFO)  # the server tells of each of its steps
    threading.Thread(target=_warm, name="warm-imports", daemon=True).start()

    @asynccontextmanager
    async def while_up(_: App) -> AsyncIterator[None]:
        if not headless:
            threading.Thread(target=open_page, args=[f"http://{HOST}:{port}"], daemon=True).start()
        yield

    app = App(Path(__file__).with_name("app.py"), middleware=[Middleware(LoopbackOnly)], lifespan=while_up)
    with suppress(KeyboardInterrupt):  # how the server ends where it was told to
        app.run(config={**_SETTINGS, "server.port": port, "server.headless": True})


def open_page(address: str) -> None:
    """Where there is a screen: a browser for terminals would take the one that we run in."""
    if not sys.platform.startswith("linux") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def _warm() -> None:
    for module in ("pandas", "polars", "duckdb", "plotly.graph_objects"):
        importlib.import_module(module)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dashboard.server")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--headless", action="store_true")
    given = parser.parse_args()
    run(given.port, given.headless)
