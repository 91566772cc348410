"""A headless browser of our own: its only tab is driven by what its developer tools offer."""

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
    """A program beside the test; ended with it, as is all that it has started."""
    nowhere, variables = Path(os.devnull), {**os.environ, **env}
    process = processes.start(command[0], command, env=variables, log=nowhere, cwd=cwd)
    try:
        yield
    finally:
        process.stop(PATIENCE_S)


class Tab:
    """A tab of the browser."""

    def __init__(self, line: websocket.WebSocket) -> None:
        self.line, self.asked = line, 0
        self.happened: list[object] = []
        self.ask("Page.enable")

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Have it do something; gives its answer."""
        self.asked += 1
        self.line.send(json.dumps({"id": self.asked, "method": method, "params": params}))
        while (reply := json.loads(self.line.recv())).get("id") != self.asked:
            self.happened.append(reply.get("method"))
        answer: dict[str, Any] = reply["result"]
        return answer

    def show(self, address: str, width: int = 1200, height: int = 900, **media: object) -> None:
        """Load a page whole, in a window of this size, on these media."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        self.ask("Emulation.setEmulatedMedia", **{"media": "", "features": [], **media})
        self.happened.clear()
        self.ask("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.happened:
            self.happened.append(json.loads(self.line.recv()).get("method"))

    def look(self, script: str) -> Any:  # noqa: ANN401 (JSON)
        """The value of an expression on the page, or what it promises."""
        wanted = {"returnByValue": True, "awaitPromise": True}
        answer = self.ask("Runtime.evaluate", expression=script, **wanted)
        return answer["result"].get("value")

    @property
    def text(self) -> str:
        """The page as it is now, as HTML."""
        return str(self.look("document.documentElement.outerHTML"))

    def picture(self) -> bytes:
        """What is seen of it, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def press(self, key: str, code: int, modifiers: int = 0, text: str = "") -> None:
        """A key, down and up, as under a finger; ``text`` is what it would write."""
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        named |= {"text": text} if text else {}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, **named)


T = TypeVar("T", bound=Tab)


@contextmanager
def tab_of(browser: str, kind: type[T]) -> Iterator[T]:
    """The tab of a browser that runs while the context lasts."""
    with (
        TemporaryDirectory() as home,  # as the path of a browser's socket must be short
        running(
            browser, *QUIET, f"--user-data-dir={home}", "about:blank", cwd=Path(home), TMPDIR=home
        ),
    ):
        port_file = Path(home, "DevToolsActivePort")
        assert eventually(port_file.exists, PATIENCE_S)
        port = port_file.read_text().split()[0]
        with urlopen(f"http://127.0.0.1:{port}/json") as answer:
            [page] = [target for target in json.load(answer) if target["type"] == "page"]
        line = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=PATIENCE_S)
        with closing(line):
            yield kind(line)
