"""The live page of a sweep on loopback, for a browser of the user who runs it.

Every user of a machine can connect to its loopback, so the URL has a token, without which nothing
is served.
"""

import hashlib
import json
import secrets
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from typing_extensions import override

from mqperf.base.registry import Registry
from mqperf.front.live import Pulse, Scene, View

LOOPBACK = "127.0.0.1"
PAGE = Path(__file__).with_name("page.html")


def _inline(tag: str) -> str:
    """Return the CSP source that allows the inline element of this name: a hash of its content."""
    content = PAGE.read_text(encoding="utf-8").partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        f"default-src 'none'; script-src {_inline('script')}; style-src {_inline('style')};"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Document:
    """A document served beside the page at ``name``: its media type, and its current text."""

    name: str
    kind: str
    content: Callable[[Pulse], str]


class _Handler(BaseHTTPRequestHandler):
    """Serves the page and further documents to clients that know the token."""

    def __init__(
        self, pulse: Pulse, token: str, documents: Mapping[str, Document], *arguments: object
    ) -> None:
        self._pulse, self._token, self._documents = pulse, token, documents
        super().__init__(*arguments)  # type: ignore[arg-type]  # arguments of the server

    def do_GET(self) -> None:
        """Answer a request; other host names are refused, as DNS rebinding would use them."""
        token, _, page = self.path.removeprefix("/").partition("/")
        if self.headers.get("Host", "").rpartition(":")[0] not in {LOOPBACK, "localhost"}:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not secrets.compare_digest(token.encode(), self._token.encode()):
            self.send_error(HTTPStatus.NOT_FOUND)
        elif page == "":
            self._send("text/html; charset=utf-8", PAGE.read_bytes())
        elif (document := self._documents.get(page)) is not None:
            self._send(document.kind, document.content(self._pulse).encode())
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the terminal belongs to the sweep."""


def state(pulse: Pulse) -> dict[str, object]:
    """Return the data that the page shows."""
    scene = pulse.scene or Scene("", "", "")
    return {
        "doing": pulse.doing,
        "title": scene.title,
        "unit": scene.unit,
        "heard": scene.heard,
        "window_s": scene.window_s,
        "beats": [asdict(beat) for beat in scene.beats.copy()],
    }


NOW = Document("now.json", "application/json", lambda pulse: json.dumps(state(pulse)))
DOCUMENTS = Registry("live_documents", (NOW,))


@contextmanager
def served(pulse: Pulse) -> Iterator[str]:
    """Serve the page on a free port of loopback while the block lasts, and yield its URL.

    Everyone with the URL can see the page: it contains a random token.
    """
    token = secrets.token_urlsafe(24)
    handler = partial(_Handler, pulse, token, dict(DOCUMENTS))
    with ThreadingHTTPServer((LOOPBACK, 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_port}/{token}/"
        finally:
            server.shutdown()
            thread.join()


VIEW = View("live-page", served)
