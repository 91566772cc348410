"""The progress of a chain in a process: each step is sent by the service that is its sender."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import eventlet
import eventlet.event

from mqperf.onhost.load.random_text import letters
from mqperf.onhost.load.record import Record

from .steps import Steps

if TYPE_CHECKING:
    from .services import Service

Step = Mapping[str, Any]


class Creation:
    """A creation that is under way; ``step`` is the last one that this process saw.

    ``over`` is sent None when the creation finished, or why it failed.
    """

    def __init__(self) -> None:
        self.over = eventlet.event.Event()
        self.step = ""


class Walk:
    """The side of a chain that this process runs.

    ``services`` are filled in by the caller.  ``say`` takes a sign and its text.
    ``waiting`` has this process's creations that are under way, by their start.
    """

    def __init__(
        self, task: Mapping[str, Any], record: Record, steps: Steps, say: Callable[[str, str], None]
    ) -> None:
        self._steps: Sequence[Step] = task["steps"]
        self._signs: Mapping[str, str] = task["signs"]
        self._say = say
        self._timeout_s: float = task["timeout_s"]
        self._record, self._instants = record, steps
        self._bodies = {
            size: letters(size)
            for step in self._steps
            for size in (step["request_bytes"], step["reply_bytes"])
        }
        self._agent = task["kind"] == "server"
        self.services: dict[str, Service] = {}
        self.waiting: dict[float, Creation] = {}

    def begin(self, creation: float) -> None:
        """Send the first steps of a creation; raise what the library raises."""
        self._send_from(creation, 0)

    def handle(self, creation: float, number: int) -> str:
        """Handle a received step, see to it that the chain goes on, and return the reply."""
        step = self._steps[number]
        if step["kind"] == "fan-out":
            return ""
        self._note_last_step(creation, step)
        if step["receipt"]:
            self._record.add("received", creation, time.time())
        if step["processing_s"]:
            eventlet.sleep(step["processing_s"])
        for other in step["meanwhile"]:
            self._fan_out(creation, other)
        if step["moves"]:
            self._instants.add(creation, number, passed=time.time())
            eventlet.spawn_n(self._continue, creation, number + 1 + len(step["meanwhile"]))
        return self._bodies[step["reply_bytes"]]

    def end(self, creation: float, reason: str | None = None) -> None:
        """Wake the thread of a creation, if it still waits."""
        if (pending := self.waiting.pop(creation, None)) is not None:
            pending.over.send(reason)

    def _continue(self, creation: float, number: int) -> None:
        """Continue a creation, in a green thread of its own; an error ends the creation."""
        try:
            self._send_from(creation, number)
        except Exception as error:  # noqa: BLE001 (of the library, whatever it is)
            reason = f"{type(error).__name__}: {str(error)[:200]}"
            sys.stdout.write(f"a creation failed: {reason}\n")
            self._give_up(creation, reason)

    def _send_from(self, creation: float, number: int) -> None:
        """Send the steps from this one on, until one moves the chain to its receiver."""
        while number < len(self._steps):
            step = self._steps[number]
            if step["kind"] == "fan-out":
                self._fan_out(creation, number)
                number += 1
                continue
            started = self._sign_begin(number)
            if step["moves"]:
                self._instants.add(creation, number, started=started)
            self._send(creation, number)
            if step["moves"]:
                return
            self._instants.add(creation, number, started=started, passed=time.time())
            number += 1 + len(step["meanwhile"])
        self.end(creation)

    def _sign_begin(self, number: int) -> float:
        """Give the sign of a step that begins, if an action waits for it; return the instant."""
        now = time.time()
        if (sign := self._signs.get(str(number))) is not None:
            self._say(sign, repr(now))
        return now

    def _send(self, creation: float, number: int) -> None:
        step = self._steps[number]
        self._note_last_step(creation, step)
        sender, message = self.services[step["from"]], self._message(creation, number)
        try:
            if step["kind"] == "call":
                sender.call(step["to"], self._timeout_s, message)
            else:
                sender.cast(step["to"], message)
        except Exception as error:
            raise RuntimeError(f"{step['step']}: {type(error).__name__}: {error}") from error

    def _note_last_step(self, creation: float, step: Step) -> None:
        if creation in self.waiting:
            self.waiting[creation].step = step["step"]

    def _fan_out(self, creation: float, number: int) -> None:
        step, started = self._steps[number], self._sign_begin(number)
        self.services[step["from"]].fan_out(step["to"], self._message(creation, number))
        self._instants.add(creation, number, started=started, passed=time.time())

    def _message(self, creation: float, number: int) -> dict[str, object]:
        body = self._bodies[self._steps[number]["request_bytes"]]
        return {"creation": creation, "number": number, "body": body}

    def _give_up(self, creation: float, reason: str) -> None:
        """Report a failed creation to the process that began it."""
        if not self._agent:
            self.end(creation, reason)
            return
        origin, sender = self._steps[0]["from"], next(iter(self.services.values()))
        try:
            sender.cast(origin, {"creation": creation, "reason": reason}, method="failed")
        except Exception as error:  # noqa: BLE001 (it ends by its own timeout then)
            sys.stdout.write(f"no process could be notified: {type(error).__name__}\n")
