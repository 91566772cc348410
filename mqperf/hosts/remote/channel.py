"""The near end of a channel: requests to an agent, and its answers."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mqperf.base.errors import HostError, HostLost
from mqperf.base.processes.piped import Piped, piped
from mqperf.hosts.clock import Echo
from mqperf.hosts.place import Place
from mqperf.hosts.remote import payload, ssh
from mqperf.onhost.agent import wire

Json = str | int | float | bool | None | list[str] | list[tuple[str, int, int]] | dict[str, str]

LEASE_S = 10.0
"""After so long without a sign of life from us, nothing of ours is left on a host."""

BEATS = 4
"""Signs of life in the length of a lease."""

ANSWER_LIMIT_S = 60.0
"""No operation of an agent takes so long, but for those that are given a limit of their own."""

GREETING_LIMIT_S = 30.0
CLOSE_LIMIT_S = 20.0
LINES_BEFORE = 1000
"""Lines that a login script may print."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answered: a value as JSON has it, bytes, and when they were here."""

    value: Any
    data: bytes
    at: float


class Channel:
    """A connection to an agent, for any number of threads.

    A host that does not answer any more is lost for good: every call raises ``HostLost`` at once.
    """

    def __init__(self, place: Place, program: Piped, lease_s: float) -> None:
        """Send the agent over ``program``, an ssh to the host; ``greet`` waits for it."""
        self.name = place.name
        self._place, self._program, self._lease_s = place, program, lease_s
        self._writing = threading.Lock()
        self._waiting: dict[int, Future[Answer]] = {}
        self._number = 0
        self._lost: HostLost | None = None
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def greet(self) -> wire.Head:
        """Wait for the agent; what it says of its Python.  Raises ``HostError`` with the reason."""
        with suppress(OSError):  # ssh says why
            folder = self._place.folder
            agent = payload.packed(payload.sources(), folder, self._lease_s)
            self._write(payload.boot() + agent)
        # Who waits for a greeting that never comes is woken by the end of ssh.
        patience = threading.Timer(GREETING_LIMIT_S, self._give_up)
        patience.daemon = True
        patience.start()
        try:
            greeting = self._greeting()
        finally:
            patience.cancel()
        if "error" in greeting:
            raise HostError(
                f"{self.name}: {greeting['error']}: make room there,"
                " or name another folder (ansible_remote_tmp)"
            )
        self._threads = [
            threading.Thread(target=t, daemon=True) for t in (self._receive, self._beat)
        ]
        for thread in self._threads:
            thread.start()
        return dict(greeting["ok"])

    def _greeting(self) -> wire.Head:
        for _ in range(LINES_BEFORE):
            line = self._program.output.readline()
            if line.startswith(wire.GREETING):
                return dict(json.loads(line.removeprefix(wire.GREETING)))
            if not line:
                break
        code = self._program.link.wait(CLOSE_LIMIT_S)
        reason = ssh.refusal(self._place, self._program.complaints(), code)
        raise HostError(f"{self.name}: {reason}")

    def call(self, op: str, timeout_s: float = ANSWER_LIMIT_S, **arguments: Json) -> Any:  # noqa: ANN401 (whatever JSON has)
        """Have something done, and give its result.

        Raises ``HostError`` when the host refuses, ``HostLost`` when it does not answer.
        """
        return self.answer(self.ask(op, b"", **arguments), timeout_s).value

    def ask(self, op: str, data: bytes = b"", **arguments: Json) -> Future[Answer]:
        """Have something done, without waiting for it; results come in any order."""
        future: Future[Answer] = Future()
        with self._writing:
            self._number += 1
            self._waiting[self._number] = future
            self._send({"id": self._number, "op": op, **arguments}, data)
        return future

    def answer(self, future: Future[Answer], timeout_s: float = ANSWER_LIMIT_S) -> Answer:
        """Wait for what was asked."""
        try:
            return future.result(timeout_s)
        except FutureTimeoutError:
            self._lose(f"no answer for {timeout_s:g} s: it hangs, or its disk does")
        return future.result(CLOSE_LIMIT_S)

    def echo(self) -> Echo:
        """Ask for the host's clock: what ours said before and after, and what it said."""
        before = time.time()
        answer = self.answer(self.ask("echo"))
        return Echo(before, answer.value, answer.at)

    def check(self) -> None:
        """Raise ``HostLost`` when the host is; costs nothing."""
        if self._lost is not None:
            raise self._lost

    def leave(self) -> None:
        """Let the agent end everything on its host."""
        self._closed.set()
        with suppress(OSError):
            self._program.feed.close()

    def close(self) -> None:
        """Let the agent end everything on its host, and wait until it has."""
        self.leave()
        for thread in self._threads:
            thread.join(CLOSE_LIMIT_S)

    def _give_up(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._program.link.pid, signal.SIGKILL)

    def _send(self, head: wire.Head, data: bytes = b"") -> None:
        """Write a message; ``_writing`` is ours."""
        self.check()
        with suppress(OSError, ValueError):  # whoever reads its answers says why
            self._write(wire.pack(head, data))

    def _write(self, message: bytes) -> None:
        left = memoryview(message)
        while left:
            left = left[self._program.feed.write(left) :]

    def _beat(self) -> None:
        """Show the host that we live."""
        while not self._closed.wait(self._lease_s / BEATS):
            with self._writing, suppress(HostLost):
                self._send({"op": "beat"})
            if self._lost is not None:
                return

    def _receive(self) -> None:
        """Hand every answer to who waits for it, until there are no more."""
        try:
            while (message := wire.receive(self._program.output)) is not None:
                self._answered(*message, time.time())
        except (ValueError, KeyError):
            self._lose("it said what no agent says: somebody writes into its connection")
            self._give_up()
        code = self._program.link.wait(CLOSE_LIMIT_S)
        self._lose(ssh.loss(self._program.complaints(), code))

    def _answered(self, head: wire.Head, data: bytes, at: float) -> None:
        future = self._waiting.pop(head["id"], None)
        if future is None:
            return
        if "error" in head:
            future.set_exception(HostError(f"{self.name}: {head['error']}"))
        else:
            future.set_result(Answer(head["ok"], data, at))

    def _lose(self, reason: str) -> None:
        """The host is lost: whoever waits for it is told so."""
        if self._lost is None:
            self._lost = HostLost(f"{self.name} was lost: {reason}")
        for number in list(self._waiting):
            future = self._waiting.pop(number, None)
            if future is not None and not future.done():
                future.set_exception(self._lost)


@contextmanager
def opened(place: Place, lease_s: float) -> Iterator[Channel]:
    """Start an ssh to a host; at the end of the block nothing of ours is left there."""
    with piped(ssh.command(place, payload.boot())) as program:
        channel = Channel(place, program, lease_s)
        try:
            yield channel
        finally:
            channel.close()
