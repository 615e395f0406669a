"""The dashboard's server process: `python -m dashboard.server --port PORT [--headless]`, the store in LOOPSCOPE_DB.

Streamlit runs no line of ours before the first browser comes, and that first page would then wait for pandas, Plotly and
Polars to be imported; a thread imports them while the person still switches windows. The settings stand here and not in
`.streamlit/config.toml`, which Streamlit looks for in the folder it happens to be started in.
"""

from __future__ import annotations

import argparse
import importlib
import threading
from pathlib import Path

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import cli

HOST = "127.0.0.1"
"""Not an option: logs are private, and Streamlit asks nobody for a password."""

_SETTINGS = {
    "server.address": HOST,
    "server.fileWatcherType": "none",
    # Else Streamlit advertises its own things on our page and on stdout, with a button that writes into the user's folders.
    "logger.hideWelcomeMessage": "true",
    "server.showEmailPrompt": "false",
    "browser.gatherUsageStats": "false",
    # With magic on, a bare expression of a page would be drawn as Markdown.
    "runner.magicEnabled": "false",
    "client.toolbarMode": "minimal",
    # The browser gets an error's type, the terminal all of it: a message may quote a log.
    "client.showErrorDetails": "type",
}


def run(port: int, headless: bool) -> None:
    """Until it is interrupted."""
    settings = {**_SETTINGS, "server.port": str(port), "server.headless": str(headless).lower()}
    # A folder named `pages` beside the app makes Streamlit run a page without the app, until the app has run once: a link
    # pasted into a fresh server would open without its filters and without the demo's label.
    PagesManager.uses_pages_directory = False
    threading.Thread(target=_warm, name="warm-imports", daemon=True).start()
    app = Path(__file__).with_name("app.py")
    cli.main(["run", str(app), *(f"--{name}={value}" for name, value in settings.items())], prog_name="streamlit")


def _warm() -> None:
    for module in ("pandas", "polars", "duckdb", "plotly.graph_objects"):
        importlib.import_module(module)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dashboard.server")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--headless", action="store_true")
    given = parser.parse_args()
    run(given.port, given.headless)
