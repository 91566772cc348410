"""A connection to a server of NATS: login, messages, requests, and close."""

import json
import select
import time
from collections.abc import Mapping

from mqperf_nats.onhost import codec
from mqperf_nats.onhost.codec import Messages
from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_numbered.onhost.inbox import HEARTBEAT_S, Inbox

BUFFER_BYTES = 1 << 18

ANSWERS, DELIVERIES = 1, 2
"""Numbers of subscriptions: to answers for this connection, and to messages of the load."""

READY_S, ANSWER_S, PAUSE_S = 20.0, 2.0, 0.1
"""Time limits for JetStream to succeed and to answer once, and the pause between attempts.

If two clients create a stream at the same time, a cluster may not answer one of them.
"""

CALL, CONSUMER = b"call", b"consumer"
"""Suffixes of reply subjects of JetStream requests; those of confirms are numbers."""

NO_LEADER = 500
"""The least code of errors that are temporary."""


class Connection(Inbox):
    """An open connection; ``inbox`` is the prefix of its reply subjects.

    Messages of streams come to the subject ``deliveries``.  ``last_words`` are sent before it is
    closed.  ``ended`` is the error with which the server ended it.
    """

    heartbeat = codec.PING
    heartbeat_s = HEARTBEAT_S
    answered = True

    def __init__(self, broker: Broker) -> None:
        self.inbox, self.pongs, self.calls = codec.fresh_inbox(), 0, 0
        self.deliveries = f"{self.inbox}.deliveries.all"
        self.parsed_until, self.received, self.last_words = 0, list[Messages](), b""
        self.ended: Lost | Refused | None = None
        super().__init__(broker, BUFFER_BYTES)

    def messages(self) -> list[Messages]:
        """Return all whole messages that have come since the last ``forget``.

        Other lines are handled.  Raises ``Lost`` or ``Refused`` if the server has ended the
        connection and no message came before.
        """
        while self.ended is None:
            part = codec.parsed(self.buffer, self.parsed_until, self.have)
            if part is None:
                break
            if isinstance(part, bytes):
                self._attend(part)
                self.parsed_until += len(part) + len(codec.END)
            else:
                self.received.append(part)
                self.parsed_until = part.ends[-1]
        if not self.received:
            self._end()
        return self.received

    def forget(self) -> None:
        """Discard the received messages, which are in the buffer until then.

        Raises ``Lost`` or ``Refused`` if the server has ended the connection after them.
        """
        self.consumed(self.parsed_until)
        self.parsed_until, self.received = 0, []
        self._end()

    def reached(self) -> None:
        """Wait until the server has handled all that was sent before; keep received messages."""
        expected = self.pongs + 1
        self.send(codec.PING)
        self.finish_sending()
        while self.pongs < expected:
            self._end()
            self.fill()
            self.messages()

    def call(self, verb: str, name: str, values: Mapping[str, object]) -> bytes:
        """Repeat a request to JetStream until it succeeds; return the answer.

        Raises ``Refused`` for permanent errors, or after ``READY_S``.
        """
        deadline = time.monotonic() + READY_S
        while (error := problem(answer := self._answer(verb, name, values))) is not None:
            if isinstance(error, Refused) or time.monotonic() > deadline:
                raise Refused(f"{self.address}: {verb} {name}: {error}")
            time.sleep(PAUSE_S)
        return answer

    def body(self, block: Messages) -> bytes:
        """Return the body of the first of some messages."""
        return bytes(self.view[block.at : block.at + block.size])

    def log_in(self) -> None:
        """Log in, and subscribe to answers."""
        answers = codec.subscribe(f"{self.inbox}.*", ANSWERS)
        self.send(codec.connect(self.broker.user, self.broker.password) + answers)
        self.reached()

    def take_leave(self) -> None:
        """Send the last words; return when the server has read all that was sent."""
        self.send(self.last_words)
        self.reached()

    def _answer(self, verb: str, name: str, values: Mapping[str, object]) -> bytes:
        """Send a request; return its answer, or ``codec.NOBODY`` if none comes in time."""
        self.calls += 1
        reply = b"%s.%s-%d" % (self.inbox.encode(), CALL, self.calls)
        self.send(codec.request(verb, name, values, reply))
        self.finish_sending()
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        while poll.poll(ANSWER_S * 1000):
            self.fill()
            answers = [self.body(block) for block in self.messages() if block.subject == reply]
            self.forget()
            if answers:
                return answers[0]
        return codec.NOBODY

    def _attend(self, line: bytes) -> None:
        """Handle a line that does not begin a message."""
        if line == b"PING":
            self.send(codec.PONG)
        elif line == b"PONG":
            self.pongs += 1
        elif line.startswith(b"-ERR"):
            why = line[5:].decode(errors="replace").strip("'")
            self.ended = (Refused if "Authorization" in why else Lost)(f"{self.address}: {why}")

    def _end(self) -> None:
        if self.ended is not None:
            raise self.ended


def problem(answer: bytes) -> Lost | Refused | None:
    """Return the error in an answer of JetStream, or None."""
    if answer.startswith(codec.NOBODY):
        return Lost("no answer: no leader, or no JetStream")
    if b'"error"' not in answer:
        return None
    error = json.loads(answer)["error"]
    return (Lost if error["code"] >= NO_LEADER else Refused)(error.get("description", ""))
