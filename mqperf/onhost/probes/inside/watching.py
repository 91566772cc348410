"""The program of the probe: asks nodes about their inside once a second, and writes what they tell.

It asks at whole seconds after the agreed start, each node by itself, so that one that hangs keeps
none of the others from being asked.  Every answer is a line of JSON::

    {"node": ..., "protocol": ..., "epoch": ..., "monotonic": ..., "took_s": ..., "told": ...}

with ``"error"`` in the place of ``"told"`` where there was none in time.  The instants are those of
the question.
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
"""Seconds after the load in which a node may still answer the last question."""


class Asked(Protocol):
    """A node that is asked."""

    def state(self) -> object:
        """What it tells now, as JSON can have it; raises ``Unanswered``."""
        ...


class Log:
    """A file that threads write lines into."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.lock = Lock()

    def write(self, line: Mapping[str, object]) -> None:
        """Write one more, whole; none that comes when the load has long ended."""
        text = json.dumps(line, default=str) + "\n"
        with self.lock:
            if not self.out.closed:
                self.out.write(text)
                self.out.flush()


class Watched:
    """A node that is asked, under the label that the log has, by the module of its protocol."""

    def __init__(self, node: str, asks: str, address: str, user: str, password: str) -> None:
        module = import_module(asks)
        self.about = {"node": node, "protocol": module.PROTOCOL}
        self.asked: Asked = module.NodeClient(address, user, password)

    def watch(self, start: float, seconds: int, log: Log, control: Control) -> None:
        """Ask every second; one in which it still was to answer the last question is left out."""
        self.answer()  # a connection on which nothing was asked for a while may be closed
        for _ in sampling.each_second(control, start, seconds, late_s=1.0):
            epoch, began = time.time(), time.monotonic()
            answer = self.answer()
            when = {"epoch": epoch, "monotonic": began, "took_s": time.monotonic() - began}
            log.write({**self.about, **when, **answer})

    def answer(self) -> dict[str, object]:
        """What it tells, or why it tells nothing, as a line has it."""
        try:
            return {"told": self.asked.state()}
        except Unanswered as error:
            return {"error": str(error)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask from the start until the end of the load."""
    options = sampling.parsed(arguments)
    targets: list[dict[str, Any]] = json.loads(options.targets.read_text())
    nodes = [Watched(**target) for target in targets]
    control: Control = options.talk
    for node in nodes:
        node.answer()  # whoever is asked for the first time takes longest
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
