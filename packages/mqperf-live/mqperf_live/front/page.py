"""The pulse of a sweep as a page on loopback, for a browser of who runs it.

Every user of a machine reaches its loopback, hence a token in the address, without which nothing is
shown.
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
    """The source that a policy allows for what stands in the page's element of this name."""
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
    """What is served beside the page by its ``name``: its type of MIME, and its text now."""

    name: str
    kind: str
    content: Callable[[Pulse], str]


class _Handler(BaseHTTPRequestHandler):
    """Gives the page, and the documents beside it, to who knows the token."""

    def __init__(
        self, pulse: Pulse, token: str, documents: Mapping[str, Document], *arguments: object
    ) -> None:
        self._pulse, self._token, self._documents = pulse, token, documents
        super().__init__(*arguments)  # type: ignore[arg-type]  # whatever the server gives

    def do_GET(self) -> None:
        """Answer who asks for a page of this machine; others have no business here."""
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
        """Say nothing: the terminal belongs to the sweep."""


def state(pulse: Pulse) -> dict[str, object]:
    """What the page shows."""
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
    """Serve the page on a free port of loopback while the block lasts; its address is given.

    Whoever has the address sees the page: it holds a random token.
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
