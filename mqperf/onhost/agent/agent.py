"""The far end of a channel: does on its host what the controller asks for.

It ends, and all that it started ends with it, when its input does, when nobody has written to it
for the length of its lease, and when it is killed or stopped.  Files and signals of this end are
never waited for by the one who reads the channel, so that signs of life are always heard.
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
"""What may take as long as its caller allows; the others are done one after the other."""

WRITING = {"write", "write_all", "write_part"}
"""What takes bytes."""

REAPING_LIMIT_S = 20.0


class Agent:
    """Reads requests, and answers them in whichever order they are done."""

    def __init__(self, alive: Callable[[], None]) -> None:
        """Call ``alive`` with everything that arrives."""
        self._alive = alive
        self._operations = Operations()
        self._writing = threading.Lock()
        self._requests: queue.SimpleQueue[tuple[wire.Head, bytes]] = queue.SimpleQueue()

    def serve(self) -> None:
        """Greet, and do what is asked until nobody asks any more."""
        self._say(b"\n" + wire.GREETING + wire.pack({"ok": self._operations.hello()}))
        threading.Thread(target=self._work, daemon=True).start()
        while (message := wire.receive(sys.stdin.buffer)) is not None:
            self._alive()
            head, data = message
            if head["op"] == "echo":
                self._say(wire.pack({"id": head["id"], "ok": time.time()}))
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
        except Exception as error:  # noqa: BLE001 (whoever asked shall know, not wait)
            answer["error"] = f"{operation.__name__}: {type(error).__name__}: {error}"
        else:
            if isinstance(result, bytes):
                self._say(wire.pack(answer | {"ok": None}, result))
                return
            answer["ok"] = result
        self._say(wire.pack(answer))

    def _say(self, message: bytes) -> None:
        with self._writing:
            sys.stdout.buffer.write(message)
            sys.stdout.buffer.flush()


def main(folder: Path, lease_s: float) -> None:
    """Serve from ``folder``, which is locked by us, and remove it at the end."""
    reaping = start_reaper(folder)
    sweep(Path(tempfile.gettempdir()), re.compile("mqperf-agent-[a-z0-9_]{8}"))
    leased(lambda alive: Agent(alive).serve(), lease_s)
    # reapers of scratch folders, some of which may not have read their program yet: it is in ours
    guardian.await_reapers(reaping, REAPING_LIMIT_S)
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():  # else somebody still wrote there, and the reaper removes the rest
        child.await_end(reaping, 0)
