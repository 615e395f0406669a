"""Who is let in, held against a server that runs: the browser of the person asks it for pages that are not its own, too."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from dashboard import server
from dashboard.loopback import is_ours
from tests.dashboard.made_store import publish, three_kinds

OURS = [
    {},
    {"Host": "localhost:{port}"},
    {"Host": "LOCALHOST"},
    {"Host": "[::1]:{port}"},
    # ssh -L 9000:127.0.0.1:8501, and the page that this gives
    {"Host": "localhost:9000"},
    {"Host": "localhost:9000", "Origin": "http://localhost:9000"},
    {"Origin": "http://127.0.0.1:{port}"},
]
NOT_OURS = [
    {"Host": "evil.example"},
    {"Host": "evil.example:{port}"},
    # What a page sees whose domain resolves to 127.0.0.1 all of a sudden: its requests are of its own origin.
    {"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"},
    {"Host": "127.0.0.1.evil.example"},
    {"Host": "localhost.evil.example"},
    {"Host": "evil.example#@127.0.0.1"},
    {"Host": "user@127.0.0.1"},
    {"Host": "127.0.0.1/evil"},
    {"Host": "127.0.0.1:99999"},
    {"Host": "0.0.0.0:{port}"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    # Another server on this machine is another origin.
    {"Origin": "http://127.0.0.1:3000"},
    {"Origin": "http://localhost:{port}"},
]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free: int = probe.getsockname()[1]
    db = publish(tmp_path_factory.mktemp("loopback") / "store.duckdb", three_kinds())
    process = subprocess.Popen(
        [sys.executable, "-m", "dashboard.server", "--headless", "--port", str(free)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "LOOPSCOPE_DB": str(db)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        deadline = time.monotonic() + 90
        while True:
            assert process.poll() is None, process.stdout and process.stdout.read().decode()
            assert time.monotonic() < deadline
            try:
                assert status_of(free, "/_stcore/health", {}) == 200
                break
            except OSError:
                time.sleep(0.1)
        yield free
    finally:
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert told == b"", "a server that did as it was told has nothing to say"


def status_of(port: int, path: str, headers: dict[str, str]) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={name: value.format(port=port) for name, value in headers.items()})
        return connection.getresponse().status
    finally:
        connection.close()


def websocket_status_of(port: int, headers: dict[str, str]) -> int:
    handshake = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    return status_of(port, "/_stcore/stream", {**handshake, **headers})


def words(headers: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in headers.items()) or "none"


@pytest.mark.parametrize("headers", OURS, ids=words)
def test_the_person_is_let_in(headers: dict[str, str], port: int) -> None:
    assert status_of(port, "/", headers) == 200
    assert websocket_status_of(port, headers) == 101


@pytest.mark.parametrize("headers", NOT_OURS, ids=words)
def test_a_page_of_somebody_else_is_not(headers: dict[str, str], port: int) -> None:
    assert {status_of(port, path, headers) for path in ("/", "/_stcore/health", "/_stcore/host-config", "/session")} == {403}
    assert websocket_status_of(port, headers) == 403


HOST, ORIGIN = (b"host", b"localhost"), (b"origin", b"http://localhost")


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [HOST, (b"host", b"evil.example")],
        [HOST, ORIGIN, (b"origin", b"http://evil.example")],
        [(b"host", b"\xff\xfe")],
        [(b"host", b"")],
    ],
)
def test_headers_that_say_two_things_or_nothing_are_of_nobody(headers: list[tuple[bytes, bytes]]) -> None:
    assert is_ours([HOST, ORIGIN])
    assert not is_ours(headers)


@pytest.mark.parametrize(("display", "opened"), [(":0", ["http://127.0.0.1:8501"]), ("", [])])
def test_a_browser_is_opened_where_there_is_a_screen(display: str, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a browser for terminals would take the one that the server runs in."""
    shown: list[str] = []
    monkeypatch.setattr("dashboard.server.webbrowser.open", shown.append)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    server.open_page("http://127.0.0.1:8501")
    assert shown == opened
