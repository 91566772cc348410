"""The program of the probe ``inside``: queries nodes once a second, and records their answers.

It queries at whole seconds after the agreed start, each node in a thread of its own, so that one
that hangs does not delay the others.  Every answer is a line of JSON::

    {"node": ..., "protocol": ..., "epoch": ..., "monotonic": ..., "took_s": ..., "told": ...}

with ``"error"`` in the place of ``"told"`` where there was no answer in time.  The instants are
those of the request.
"""

import json
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from threading import Lock, Thread
from typing import Any, Protocol, TextIO

from mqperf.onhost.load.control import Control
from mqperf.onhost.probes import sampling
from mqperf.onhost.probes.inside.http import Unanswered

LAST_S = 1.0
"""Seconds after the load in which a node may still answer the last request."""


class Client(Protocol):
    """The client of a node, by its protocol."""

    def state(self) -> object:
        """Return the current answer of the node as JSON data; raises ``Unanswered``."""
        ...


class Log:
    """A file that threads write lines into."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.lock = Lock()

    def write(self, line: Mapping[str, object]) -> None:
        """Write a complete line; late ones, after the log was closed, are dropped."""
        text = json.dumps(line, default=str) + "\n"
        with self.lock:
            if not self.out.closed:
                self.out.write(text)
                self.out.flush()


class Watched:
    """A node, known by its label in the log, and its client from the module of its protocol."""

    def __init__(self, node: str, asks: str, address: str, user: str, password: str) -> None:
        module = import_module(asks)
        self.about = {"node": node, "protocol": module.PROTOCOL}
        self.client: Client = module.NodeClient(address, user, password)

    def watch(self, start: float, seconds: int, log: Log, control: Control) -> None:
        """Query every second; seconds in which an answer was still pending are skipped."""
        self.answer()  # an idle connection may have been closed meanwhile
        for _ in sampling.each_second(control, start, seconds, late_s=1.0):
            epoch, began = time.time(), time.monotonic()
            answer = self.answer()
            when = {"epoch": epoch, "monotonic": began, "took_s": time.monotonic() - began}
            log.write({**self.about, **when, **answer})

    def answer(self) -> dict[str, object]:
        """Return the answer, or the error, under its key in a line."""
        try:
            return {"told": self.client.state()}
        except Unanswered as error:
            return {"error": str(error)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Query from the start until the end of the load."""
    options = sampling.parsed(arguments)
    targets: list[dict[str, Any]] = json.loads(options.targets.read_text())
    nodes = [Watched(**target) for target in targets]
    control: Control = options.talk
    for node in nodes:
        node.answer()  # the first answer takes longest
    control.say("ready")
    start = control.wait_for_start()
    if start is None:
        return
    with options.out.open("w") as out:
        log = Log(out)
        threads = [
            Thread(target=node.watch, args=(start, options.seconds, log, control), daemon=True)
            for node in nodes
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, start + options.seconds + LAST_S - time.time()))


if __name__ == "__main__":
    main()
