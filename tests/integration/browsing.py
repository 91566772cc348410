"""A headless browser for tests: a single tab, controlled through the DevTools protocol."""

import base64
import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.request import urlopen

import websocket
from patience import eventually

from mqperf.base import processes

QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--remote-debugging-port=0", "--remote-allow-origins=*", "--window-size=1200,900"),
    *("--hide-scrollbars", "--allow-file-access-from-files"),
)
PATIENCE_S = 120


@contextmanager
def running(*command: str, cwd: Path, **env: str) -> Iterator[None]:
    """Run a program during the context; afterwards it and all its children are stopped."""
    nowhere, variables = Path(os.devnull), {**os.environ, **env}
    process = processes.start(command[0], command, env=variables, log=nowhere, cwd=cwd)
    try:
        yield
    finally:
        process.stop(PATIENCE_S)


class Tab:
    """A tab of the browser."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self.socket, self.last_id = socket, 0
        self.events: list[object] = []
        self.command("Page.enable")

    def command(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command to the browser and return its result."""
        self.last_id += 1
        self.socket.send(json.dumps({"id": self.last_id, "method": method, "params": params}))
        while (reply := json.loads(self.socket.recv())).get("id") != self.last_id:
            self.events.append(reply.get("method"))
        answer: dict[str, Any] = reply["result"]
        return answer

    def show(self, address: str, width: int = 1200, height: int = 900, **media: object) -> None:
        """Load a page completely, with this window size and these emulated media."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        self.command("Emulation.setEmulatedMedia", **{"media": "", "features": [], **media})
        self.events.clear()
        self.command("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self.events.append(json.loads(self.socket.recv()).get("method"))

    def js(self, script: str) -> Any:  # noqa: ANN401 (JSON)
        """Evaluate a JavaScript expression on the page; a promise is awaited."""
        wanted = {"returnByValue": True, "awaitPromise": True}
        answer = self.command("Runtime.evaluate", expression=script, **wanted)
        return answer["result"].get("value")

    @property
    def html(self) -> str:
        """The current page, as HTML."""
        return str(self.js("document.documentElement.outerHTML"))

    def screenshot(self) -> bytes:
        """A screenshot of the page, as PNG."""
        return base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])

    def press(self, key: str, code: int, modifiers: int = 0, text: str = "") -> None:
        """Press and release a key; ``text`` is what the key would type."""
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        event |= {"text": text} if text else {}
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, **event)


T = TypeVar("T", bound=Tab)


@contextmanager
def tab_of(browser: str, kind: type[T]) -> Iterator[T]:
    """Start a browser, and stop it when the context ends."""
    with (
        TemporaryDirectory() as home,  # since the path of a browser's socket must be short
        running(
            browser, *QUIET, f"--user-data-dir={home}", "about:blank", cwd=Path(home), TMPDIR=home
        ),
    ):
        port_file = Path(home, "DevToolsActivePort")
        assert eventually(port_file.exists, PATIENCE_S)
        port = port_file.read_text().split()[0]
        with urlopen(f"http://127.0.0.1:{port}/json") as answer:
            [page] = [target for target in json.load(answer) if target["type"] == "page"]
        socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=PATIENCE_S)
        with closing(socket):
            yield kind(socket)
