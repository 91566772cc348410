"""The pulse of a sweep as a page on loopback, for a browser on this machine."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from typing_extensions import override

from mqperf.live.pulse import Pulse

LOOPBACK = "127.0.0.1"
PAGE = Path(__file__).with_name("page.html")


class _Handler(BaseHTTPRequestHandler):
    """Gives the page, and the present state as JSON."""

    def __init__(self, pulse: Pulse, *arguments: object) -> None:
        self._pulse = pulse
        super().__init__(*arguments)  # type: ignore[arg-type]  # whatever the server gives

    def do_GET(self) -> None:
        """Answer who asks for a page of this machine; others have no business here."""
        if self.headers.get("Host", "").rpartition(":")[0] not in {LOOPBACK, "localhost"}:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path == "/":
            self._send("text/html; charset=utf-8", PAGE.read_bytes())
        elif self.path == "/now.json":
            self._send("application/json", json.dumps(state(self._pulse)).encode())
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the sweep."""


def state(pulse: Pulse) -> dict[str, object]:
    """What the page shows."""
    scene = pulse.scene
    return {
        "doing": pulse.doing,
        "title": scene.title if scene else "",
        "unit": scene.unit if scene else "",
        "heard": scene.heard if scene else "",
        "window_s": scene.window_s if scene else 0.0,
        "beats": [asdict(beat) for beat in scene.beats.copy()] if scene else [],
    }


@contextmanager
def served(pulse: Pulse) -> Iterator[str]:
    """Serve the page on a free port of loopback while the block lasts; its address is given."""
    with ThreadingHTTPServer((LOOPBACK, 0), partial(_Handler, pulse)) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
