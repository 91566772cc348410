"""Clients: every green thread of every process starts at one agreed second."""

import threading
import time
from types import ModuleType

from mqperf.onhost.load.control import Control

LEAD_S = 0.8
"""Seconds before the start at which the green threads are released.

The simulator itself then builds their clients (0.2 ms each) and sleeps until the next whole
second, which is the agreed start.
"""


class Gate:
    """Holds the green threads of this process until shortly before the agreed start."""

    def __init__(self, control: Control, threads: int) -> None:
        self.control = control
        self.threads = self.missing = threads
        self.opened = threading.Event()
        self.start: float | None = None
        self.failure: str | None = None

    def wait(self) -> None:
        """Wait; each green thread calls this once, and the last one watches the control folder."""
        self.missing -= 1
        if self.missing:
            self.opened.wait()
            return
        self.control.say("ready")
        self.start = self.control.wait_for_start()
        if self.start is not None:
            self._sleep_until(self.start)
        self.opened.set()

    def _sleep_until(self, start: float) -> None:
        wait_s = start - LEAD_S - time.time()
        if wait_s > 0:
            time.sleep(wait_s)
        if not start - 1 < time.time() < start:
            self.failure = f"{self.control.label} was not free to start at {start:.0f}"


def hold(simulator: ModuleType, gate: Gate) -> None:
    """Make the simulator's green threads wait at the gate before they do anything else."""
    send_messages = simulator.send_messages

    def send_messages_at_start(client_id: int, *rest: object) -> None:
        gate.wait()
        if gate.failure is None and not gate.control.stopping:
            send_messages(client_id, *rest)

    vars(simulator)["send_messages"] = send_messages_at_start
