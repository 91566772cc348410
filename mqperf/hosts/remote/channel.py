"""The local end of a channel: requests to an agent on a host, and its answers."""

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
"""An agent that receives no heartbeat for so long ends and removes everything of ours."""

BEATS = 4
"""Heartbeats per lease."""

ANSWER_LIMIT_S = 60.0
"""Default limit of an operation of the agent."""

GREETING_LIMIT_S = 30.0
CLOSE_LIMIT_S = 20.0
MAX_LINES_BEFORE_GREETING = 1000
"""Maximum number of lines that login scripts may print before the greeting."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An agent's answer: a JSON value, bytes, and the time of its arrival, in epoch seconds."""

    value: Any
    data: bytes
    at: float


class Channel:
    """A thread-safe connection to an agent.

    A host that stops answering is lost for good: every later call raises ``HostLost`` at once.
    """

    def __init__(self, place: Place, program: Piped, lease_s: float) -> None:
        """Use ``program``, an ssh connection to the host; ``greet`` sends the agent over it."""
        self.name = place.name
        self._place, self._program, self._lease_s = place, program, lease_s
        self._write_lock = threading.Lock()
        self._futures: dict[int, Future[Answer]] = {}
        self._last_id = 0
        self._lost: HostLost | None = None
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []

    def greet(self) -> wire.Head:
        """Start the agent and return its greeting.  Raises ``HostError`` with the reason."""
        with suppress(OSError):  # the error output of ssh has the reason
            folder = self._place.folder
            agent = payload.packed(payload.sources(), folder, self._lease_s)
            self._write(payload.boot() + agent)
        # Killing ssh ends the read that waits for the greeting.
        timer = threading.Timer(GREETING_LIMIT_S, self._kill_ssh)
        timer.daemon = True
        timer.start()
        try:
            greeting = self._read_greeting()
        finally:
            timer.cancel()
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

    def _read_greeting(self) -> wire.Head:
        for _ in range(MAX_LINES_BEFORE_GREETING):
            line = self._program.output.readline()
            if line.startswith(wire.GREETING):
                return dict(json.loads(line.removeprefix(wire.GREETING)))
            if not line:
                break
        code = self._program.link.wait(CLOSE_LIMIT_S)
        reason = ssh.refusal(self._place, self._program.complaints(), code)
        raise HostError(f"{self.name}: {reason}")

    def call(self, op: str, timeout_s: float = ANSWER_LIMIT_S, **arguments: Json) -> Any:  # noqa: ANN401 (whatever JSON has)
        """Request an operation and return its result.

        Raises ``HostError`` when the operation fails, ``HostLost`` when the host does not answer.
        """
        return self.answer(self.ask(op, b"", **arguments), timeout_s).value

    def ask(self, op: str, data: bytes = b"", **arguments: Json) -> Future[Answer]:
        """Request an operation without waiting for it; results arrive in any order."""
        future: Future[Answer] = Future()
        with self._write_lock:
            self._last_id += 1
            self._futures[self._last_id] = future
            self._send({"id": self._last_id, "op": op, **arguments}, data)
        return future

    def answer(self, future: Future[Answer], timeout_s: float = ANSWER_LIMIT_S) -> Answer:
        """Wait for the answer to a request."""
        try:
            return future.result(timeout_s)
        except FutureTimeoutError:
            self._lose(f"no answer for {timeout_s:g} s: it hangs, or its disk does")
        return future.result(CLOSE_LIMIT_S)

    def echo(self) -> Echo:
        """Read the host's clock, and ours before and after that."""
        before = time.time()
        answer = self.answer(self.ask("echo"))
        return Echo(before, answer.value, answer.at)

    def check(self) -> None:
        """Raise ``HostLost`` if the host is known to be lost; sends nothing."""
        if self._lost is not None:
            raise self._lost

    def leave(self) -> None:
        """Have the agent end everything on its host, without waiting for it."""
        self._closed.set()
        with suppress(OSError):
            self._program.feed.close()

    def close(self) -> None:
        """Have the agent end everything on its host, and wait until it has."""
        self.leave()
        for thread in self._threads:
            thread.join(CLOSE_LIMIT_S)

    def _kill_ssh(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._program.link.pid, signal.SIGKILL)

    def _send(self, head: wire.Head, data: bytes = b"") -> None:
        """Write a message; the caller holds ``_write_lock``."""
        self.check()
        with suppress(OSError, ValueError):  # the thread that reads answers finds the reason
            self._write(wire.pack(head, data))

    def _write(self, message: bytes) -> None:
        unsent = memoryview(message)
        while unsent:
            unsent = unsent[self._program.feed.write(unsent) :]

    def _beat(self) -> None:
        """Send a heartbeat several times per lease."""
        while not self._closed.wait(self._lease_s / BEATS):
            with self._write_lock, suppress(HostLost):
                self._send({"op": "beat"})
            if self._lost is not None:
                return

    def _receive(self) -> None:
        """Complete the future of every answer until the connection ends."""
        try:
            while (message := wire.receive(self._program.output)) is not None:
                self._complete(*message, time.time())
        except (ValueError, KeyError):
            self._lose("it sent what no agent sends: something else writes to its connection")
            self._kill_ssh()
        code = self._program.link.wait(CLOSE_LIMIT_S)
        self._lose(ssh.loss(self._program.complaints(), code))

    def _complete(self, head: wire.Head, data: bytes, at: float) -> None:
        future = self._futures.pop(head["id"], None)
        if future is None:
            return
        if "error" in head:
            future.set_exception(HostError(f"{self.name}: {head['error']}"))
        else:
            future.set_result(Answer(head["ok"], data, at))

    def _lose(self, reason: str) -> None:
        """Mark the host as lost, and fail every waiting request."""
        if self._lost is None:
            self._lost = HostLost(f"{self.name} was lost: {reason}")
        for number in list(self._futures):
            future = self._futures.pop(number, None)
            if future is not None and not future.done():
                future.set_exception(self._lost)


@contextmanager
def opened(place: Place, lease_s: float) -> Iterator[Channel]:
    """Open a channel by ssh; at the end of the block the agent removes everything of ours."""
    with piped(ssh.command(place, payload.boot())) as program:
        channel = Channel(place, program, lease_s)
        try:
            yield channel
        finally:
            channel.close()
