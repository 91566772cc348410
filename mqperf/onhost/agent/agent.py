"""The remote end of a channel: executes the controller's requests on its host.

It ends, with all that it started, when its input ends, when nothing arrives for the length of its
lease, and when it is killed or stopped.  The thread that reads the channel never waits for files or
processes, so that it always notices signs of life.
"""

import queue
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mqperf.onhost.agent import wire
from mqperf.onhost.agent.operations import Operations
from mqperf.onhost.errors import HostError
from mqperf.onhost.processes import child, guardian
from mqperf.onhost.processes.lease import leased
from mqperf.onhost.processes.scratch import start_reaper, sweep

SLOW = {"run", "stop"}
"""Operations with a thread of their own, as they may take long; others run one after another."""

WRITING = {"write", "write_all", "write_part"}
"""Operations that take bytes."""

REAPING_LIMIT_S = 20.0


class Agent:
    """Reads requests, and answers them in the order in which they are completed."""

    def __init__(self, alive: Callable[[], None]) -> None:
        """Set the callback ``alive``, which is called for every message that arrives."""
        self._alive = alive
        self._operations = Operations()
        self._writing = threading.Lock()
        self._requests: queue.SimpleQueue[tuple[wire.Head, bytes]] = queue.SimpleQueue()

    def serve(self) -> None:
        """Send the greeting, then serve requests until the input ends."""
        self._send(b"\n" + wire.GREETING + wire.pack({"ok": self._operations.hello()}))
        threading.Thread(target=self._work, daemon=True).start()
        while (message := wire.receive(sys.stdin.buffer)) is not None:
            self._alive()
            head, data = message
            if head["op"] == "echo":
                self._send(wire.pack({"id": head["id"], "ok": time.time()}))
            elif head["op"] in SLOW:
                threading.Thread(target=self._do, args=(head, data), daemon=True).start()
            elif head["op"] != "beat":
                self._requests.put((head, data))

    def _work(self) -> None:
        while True:
            self._do(*self._requests.get())

    def _do(self, head: wire.Head, data: bytes) -> None:
        number = head.pop("id")
        operation = getattr(self._operations, head.pop("op"))
        answer: dict[str, Any] = {"id": number}
        try:
            result = operation(**head, **({"data": data} if operation.__name__ in WRITING else {}))
        except HostError as error:
            answer["error"] = str(error)
        except OSError as error:
            answer["error"] = f"{error.filename or operation.__name__}: {error.strerror}"
        except Exception as error:  # noqa: BLE001 (the controller must get an answer)
            answer["error"] = f"{operation.__name__}: {type(error).__name__}: {error}"
        else:
            if isinstance(result, bytes):
                self._send(wire.pack(answer | {"ok": None}, result))
                return
            answer["ok"] = result
        self._send(wire.pack(answer))

    def _send(self, message: bytes) -> None:
        with self._writing:
            sys.stdout.buffer.write(message)
            sys.stdout.buffer.flush()


def main(folder: Path, lease_s: float) -> None:
    """Serve from ``folder``, which this process has locked, and remove it at the end."""
    reaping = start_reaper(folder)
    sweep(Path(tempfile.gettempdir()), re.compile("mqperf-agent-[a-z0-9_]{8}"))
    leased(lambda alive: Agent(alive).serve(), lease_s)
    # reapers of scratch folders may not have read their program yet, which is in this folder
    guardian.await_reapers(reaping, REAPING_LIMIT_S)
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():  # else something was still writing there: the reaper removes the rest
        child.await_end(reaping, 0)
