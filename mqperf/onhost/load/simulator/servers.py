"""Servers: report when they listen and what they received, and stop even with messages queued."""

import threading
import time
from types import ModuleType
from typing import Protocol

from mqperf.onhost.load.control import Control
from mqperf.onhost.load.counting import report

from .recorder import Recorder
from .waits import replace

SETTLE_S = 2.5
"""Longest wait until the simulator's per-second collector has processed the last messages."""


class Server(Protocol):
    """The part of an oslo.messaging server that is wrapped."""

    def start(self) -> None:
        """Begin to listen."""

    def stop(self) -> None:
        """Take no more messages."""


def prepare_server(simulator: ModuleType, control: Control, recorder: Recorder) -> None:
    """Wrap the simulator's ``run_server`` with the reports and the stop of this process.

    An exception of a signal handler inside the listener's green thread would kill it and leave the
    simulator waiting for ever, so a server is always stopped from a green thread of its own.
    """
    run_server = simulator.run_server

    def run_prepared_server(server: Server, duration: int | None = None) -> None:
        _announce(server, control)
        _stop_when_told(server, control)
        report(control, recorder, lambda: simulator.IS_RUNNING)
        run_server(server, duration=duration)
        vars(simulator)["IS_RUNNING"] = False

    vars(simulator)["run_server"] = run_prepared_server
    replace(simulator, "run_server", lambda _second: _settle(recorder))


def _announce(server: Server, control: Control) -> None:
    start = server.start

    def start_and_say() -> None:
        start()
        control.say("ready")

    vars(server)["start"] = start_and_say


def _stop_when_told(server: Server, control: Control) -> None:
    def stop() -> None:
        control.wait_for_stop()
        server.stop()

    threading.Thread(target=stop, daemon=True).start()


def _settle(recorder: Recorder) -> None:
    deadline = time.monotonic() + SETTLE_S
    while recorder.unreported and time.monotonic() < deadline:
        time.sleep(0.02)
