"""A real browser that tests press keys in, by the DevTools protocol over two pipes.

https://chromedevtools.github.io/devtools-protocol/
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from patience import eventually

KEYS = {"Tab": 9, "Enter": 13, "ArrowUp": 38, "ArrowDown": 40}
"""Keys by their names, and the codes that the protocol wants beside them."""

LIMIT_S = 120
LAUNCHER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""A browser takes commands from its file 3, and answers to its file 4."""

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--remote-debugging-pipe",
)


class Page:
    """A page that is open: its messages are JSON, each ended by a zero byte."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        """Attach to a new page."""
        self._commands, self._answers = commands, answers
        self._number, self._session = 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """What the browser answers; raises ``AssertionError`` where it refuses."""
        self._number += 1
        of_page = {"sessionId": self._session} if self._session else {}
        message = {"id": self._number, "method": method, "params": parameters, **of_page}
        self._commands.write(json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, address: str) -> None:
        """Load it, and wait until it is."""
        self.call("Page.navigate", url="about:blank")  # or another fragment would load nothing
        self.call("Page.navigate", url=address)
        there = f"{address} complete"
        assert eventually(lambda: self.ask("`${location} ${document.readyState}`") == there)

    def ask(self, expression: str) -> object:
        """The value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        value: object = result["result"].get("value")
        return value

    def press(self, key: str) -> None:
        """A key goes down and up, as under a finger."""
        known = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        kind = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, **known, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def _message(self) -> dict[str, Any]:
        raw = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser has ended"
            raw += byte
        message: dict[str, Any] = json.loads(raw)
        return message


@contextmanager
def opened(browser: str, profile: Path) -> Iterator[Page]:
    """A page of a browser with a profile of its own, which ends with the context."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    launch = [sys.executable, "-c", LAUNCHER, str(theirs_in), str(theirs_out)]
    process = subprocess.Popen(
        ["timeout", str(LIMIT_S), *launch, browser, *OPTIONS, f"--user-data-dir={profile}"],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    with os.fdopen(ours_out, "wb", 0) as commands, os.fdopen(ours_in, "rb") as answers:
        try:
            yield Page(commands, answers)
        finally:
            process.terminate()
            process.wait()
