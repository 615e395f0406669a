"""Who may talk to the dashboard: its own pages, asked for by a name of this machine.

Listening on 127.0.0.1 keeps other machines out, and not the pages in the person's browser: any of them may send requests to
that port. Were its domain to resolve to 127.0.0.1 all of a sudden (DNS rebinding), the browser would let it read the answers,
logs and all. The Host header then names that domain, and the Origin header names a page of elsewhere; both are looked at
before Streamlit sees the request, the WebSocket's too. Streamlit's own check lets in any page of any local port, and asks a
server on the internet for this machine's address before it refuses one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

NAMES = frozenset(("localhost", "127.0.0.1", "::1"))

_REFUSAL = b"This dashboard answers to pages of its own alone, under http://127.0.0.1 and http://localhost.\n"
_POLICY_VIOLATION = 1008


class LoopbackOnly:
    """ASGI middleware. A port that was forwarded (`ssh -L 9000:127.0.0.1:8501`) is as good as ours: only names are compared."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or is_ours(scope["headers"]):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(_REFUSAL)).encode())]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": _REFUSAL})


def is_ours(headers: list[tuple[bytes, bytes]]) -> bool:
    """headers: names in lower case, as ASGI has them. Without an Origin it is no other page's doing: browsers send it wherever
    a page could read or change something; a program or a link that is clicked sends none."""
    hosts = [value for name, value in headers if name == b"host"]
    origins = [value for name, value in headers if name == b"origin"]
    if len(hosts) != 1 or not _is_loopback(hosts[0]):
        return False
    return all(origin.lower() in (b"http://" + hosts[0].lower(), b"https://" + hosts[0].lower()) for origin in origins)


def _is_loopback(host: bytes) -> bool:
    try:
        parts = urlsplit(b"//" + host)
        name, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return parts.netloc == host and b"@" not in host and name is not None and name.decode("latin-1") in NAMES
