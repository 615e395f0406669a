"""The dashboard as a person sees it: a real server, a real browser, the demo's month of recordings.

Counts on the pages are held against `loopscope sql` on the same store. With LOOPSCOPE_PICTURE=FILE the README's picture is
written as well.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect, sync_playwright

import cli
from cli.demo import LABEL, build_demo
from cli.engine import run_ingest

LOOPSCOPE = [sys.executable, "-P", "-c", "import sys; from cli.main import main; sys.exit(main())"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
BROWSER_OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
SLOW = 60_000
"""Milliseconds for the first page of a fresh server on a busy machine."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    run_ingest([build_demo(folder)], folder / "demo.duckdb", label=LABEL)
    return folder / "demo.duckdb"


@pytest.fixture(scope="module")
def server(db: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `loopscope serve`; the process and its child are gone afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # Started in a folder with a file that the server must not import.
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "click.py").write_text("raise SystemExit('imported from the current folder')")
    command = [*LOOPSCOPE, "serve", "--db", str(db), "--port", str(port), "--headless"]
    process = subprocess.Popen(
        command, cwd=elsewhere, env=ENVIRONMENT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _wait_until_up(process, f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _wait_until_up(process: subprocess.Popen[bytes], health: str) -> None:
    for _ in range(600):
        if process.poll() is not None:
            pytest.fail(f"the server ended at once: {(process.stderr.read() if process.stderr else b'').decode()}")
        try:
            with urllib.request.urlopen(health, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server did not come up within a minute")


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium: the dashboard was not looked at")
        pytest.skip("no Chromium on the path (apt-get install chromium): the dashboard was not looked at")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch_persistent_context(
            tmp_path / "profile",
            executable_path=chromium,
            args=BROWSER_OPTIONS,
            headless=True,
            viewport={"width": 1440, "height": 1000},
        )
        try:
            first = browser.pages[0]
            first.set_default_timeout(SLOW)
            yield first
        finally:
            browser.close()


def _sql(db: Path, query: str) -> dict[str, Any]:
    """The one row of the answer."""
    answer = subprocess.run(
        [*LOOPSCOPE, "sql", query, "--db", str(db), "--format", "json"], capture_output=True, check=True, env=ENVIRONMENT
    )
    (row,) = json.loads(answer.stdout)
    assert isinstance(row, dict)
    return row


def _metrics(page: Page) -> dict[str, int]:
    expect(page.get_by_text("Sources without problems")).to_be_visible(timeout=SLOW)
    told = [metric.inner_text().split("\n") for metric in page.get_by_test_id("stMetric").all()]
    return {lines[0]: int(lines[-1].replace(",", "")) for lines in told if lines[-1].replace(",", "").isdigit()}


def test_a_link_pasted_into_a_fresh_server_opens_with_its_filters_and_the_label(page: Page, server: str, db: Path) -> None:
    page.goto(f"{server}/sessions?order=newest&verdict=silent-hang&version=0.21.10")
    expected = _sql(
        db,
        "SELECT count(*) AS n FROM sessions WHERE kind = 'main' AND verdict = 'silent-hang' AND client_version = '0.21.10'",
    )
    expect(page.get_by_text(f"{expected['n']:,} sessions", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.get_by_text(LABEL)).to_be_visible()
    assert expected["n"] > 0


def test_overview_leads_to_a_session_and_both_agree_with_sql(page: Page, server: str, db: Path) -> None:
    page.goto(server)
    shown = _metrics(page)
    expected = _sql(
        db,
        """
        SELECT count(*) AS sessions, sum(calls) AS calls, sum(trips) AS trips,
               (SELECT count(*) FROM turns t JOIN sessions USING (session_id)
                WHERE kind = 'main' AND t.verdict = 'silent-hang' AND NOT inherited) AS silent_hangs
        FROM sessions WHERE kind = 'main'
        """,
    )
    assert shown["Sessions"] == expected["sessions"]
    assert shown["Calls"] == expected["calls"]
    assert shown["Breaker trips"] == expected["trips"]
    assert shown["Silent hangs"] == expected["silent_hangs"] > 0
    expect(page.get_by_text(LABEL)).to_be_visible()
    # Three figures, drawn and not only announced.
    expect(page.locator(".js-plotly-plot .main-svg:first-child")).to_have_count(3, timeout=SLOW)
    if picture := os.environ.get("LOOPSCOPE_PICTURE"):
        _take_picture(page, Path(picture))

    page.locator("a[href*='session=']").first.click()
    expect(page.get_by_text("Calls, and what each guard decides")).to_be_visible(timeout=SLOW)
    address = urlsplit(page.url)
    assert address.path == "/session"
    (session_id,) = parse_qs(address.query)["session"]
    assert re.fullmatch(r"[0-9a-f-]{36}", session_id)
    counted = _sql(
        db,
        "SELECT turns, calls, replays, collisions, trips, verdict, reason, guard_in_force FROM sessions "
        f"WHERE session_id = '{session_id}'",
    )
    head = page.get_by_test_id("stText").all_inner_texts()
    assert counted["verdict"] == "silent-hang"
    assert any(text.startswith(counted["reason"]) for text in head)
    numbers = "".join(f"{counted[name]} {name[:-1]}s?[,:]? ?" for name in ("turns", "calls", "replays", "collisions", "trips"))
    assert any(re.search(numbers, text) for text in head), head
    assert any(f"guard in force: {counted['guard_in_force']}" in text for text in head)
    expect(page.get_by_text(LABEL)).to_be_visible()


def test_a_filter_goes_into_the_address_and_along_from_page_to_page(page: Page, server: str) -> None:
    def turn_to(name: str) -> None:
        page.get_by_test_id("stSidebarNav").get_by_text(name, exact=True).click()

    page.goto(server)
    everything = _metrics(page)["Sessions"]
    page.get_by_label("Version").fill("0.24.4")
    page.get_by_label("Version").press("Enter")
    page.wait_for_url("**/?version=0.24.4")
    sessions = page.get_by_test_id("stMetric").filter(has_text=re.compile(r"^Sessions\s*[\d,]+$"))
    expect(sessions).not_to_contain_text(f"{everything:,}")
    chosen = _metrics(page)["Sessions"]
    assert 0 < chosen < everything
    turn_to("Sessions")
    expect(page.get_by_text(f"{chosen:,} sessions", exact=True)).to_be_visible()
    page.wait_for_url("**/sessions?version=0.24.4")
    page.reload()
    expect(page.get_by_text(f"{chosen:,} sessions", exact=True)).to_be_visible(timeout=SLOW)
    turn_to("Overview")
    expect(sessions).to_contain_text(f"{chosen:,}")
    page.wait_for_url("**/?version=0.24.4")


CUT = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const told = [...main.querySelectorAll('*')].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
  const dots = e => { while (e !== main) {
      if (getComputedStyle(e).textOverflow === 'ellipsis' && e.scrollWidth > e.clientWidth + 1) return true;
      e = e.parentElement; } return false; };
  const outside = e => { const figure = e.closest('.main-svg'); if (!figure) return false;
      const [own, all] = [e, figure].map(x => x.getBoundingClientRect());
      return own.width > 0 && (own.right > all.right + 1 || own.left < all.left - 1); };
  return [told.filter(e => dots(e) || outside(e)).map(e => e.textContent), told.length];
}"""
"""The texts that end in three dots or outside of their figure; and how many there are in all."""


@pytest.mark.parametrize("width", [900, 1400])
@pytest.mark.parametrize(("address", "drawn"), [("", "stMetric"), ("/guard_lab", "stMetric"), ("/sessions", "stDataFrame")])
def test_nothing_is_cut_short(address: str, drawn: str, width: int, page: Page, server: str) -> None:
    page.set_viewport_size({"width": width, "height": 1000})
    page.goto(server + address)
    expect(page.get_by_test_id(drawn).first).to_be_visible(timeout=SLOW)
    if not address:
        expect(page.locator(".js-plotly-plot .main-svg:first-child")).to_have_count(3, timeout=SLOW)
    page.wait_for_timeout(1000)
    cut, texts = page.evaluate(CUT)
    assert cut == []
    assert texts > 10
    widest = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
    assert widest <= width


def test_nothing_is_fetched_from_elsewhere(page: Page, server: str) -> None:
    """Logs are private: no usage statistics, no fonts, no maps."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for address, drawn in (("", "stMetric"), ("/sessions", "stDataFrame"), ("/session", "stAlert")):
        page.goto(server + address)
        expect(page.get_by_test_id(drawn).first).to_be_visible(timeout=SLOW)
        page.wait_for_load_state("networkidle")
    assert len(asked) > 10
    foreign = [url for url in asked if not url.startswith((server, server.replace("http", "ws"), "data:", "blob:"))]
    assert foreign == []


def _take_picture(page: Page, file: Path) -> None:
    page.wait_for_timeout(1500)  # the figures' first animation
    page.set_viewport_size({"width": 1440, "height": 1690})
    page.wait_for_timeout(1500)
    file.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=file)
