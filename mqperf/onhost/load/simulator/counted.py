"""A load by count: every thread sends its share, and then waits until the runner ends the load."""

import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .clients import Gate

LOOK_S = 0.2


def shares_of(total: int, all_threads: int, first: int) -> Callable[[int], int]:
    """Return the messages of each thread of this process, whose first is ``first`` among all."""
    quotient, remainder = divmod(total, all_threads)
    return lambda thread: quotient + (first + thread < remainder)


def end_after(share: Callable[[int], int], load_s: int, simulator: ModuleType, gate: Gate) -> None:
    """Have the simulator's green threads send their shares, in at most ``load_s`` seconds.

    The topic ``sent`` reports when the first and the last thread of the process had sent all.
    """
    send_messages = simulator.send_messages
    last: dict[int, float] = {}
    sent: list[float] = []

    def timed(build: Callable[[], Any]) -> Any:  # noqa: ANN401 (the simulator's client)
        client = build()
        send_msg = client.send_msg

        def send_timed() -> None:
            last[client.client_id] = time.time()
            send_msg()

        client.send_msg = send_timed
        return client

    def stop() -> None:
        vars(simulator)["IS_RUNNING"] = False

    def send_share(thread: int, build: Callable[[], Any], *_: object) -> None:
        end = (gate.start or 0.0) + load_s
        timer = threading.Timer(end - time.time(), stop)
        timer.start()
        send_messages(thread, lambda: timed(build), share(thread), None)
        timer.cancel()
        sent.append(last.get(thread, gate.start or 0.0))
        if simulator.IS_RUNNING and len(sent) == gate.threads:
            gate.control.say("sent", f"{min(sent):.6f} {max(sent):.6f}")
        while time.time() < min(end, gate.control.end() or end) and not gate.control.stopping:
            time.sleep(LOOK_S)

    vars(simulator)["send_messages"] = send_share
