"""A connection to a server of NATS: how it logs in, what comes and goes, and how it ends."""

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
"""Numbers of subscriptions: to what is answered to this connection, and to messages of the load."""

READY_S, ANSWER_S, PAUSE_S = 20.0, 2.0, 0.1
"""How long JetStream may be unable, how long it may not answer, and when it is asked again.

A cluster may leave one of two clients without an answer that make a stream at the same time.
"""

CALL, CONSUMER = b"call", b"consumer"
"""How subjects end to which JetStream answers; confirms of messages have numbers there."""

NO_LEADER = 500
"""From this code on, what JetStream cannot do now it may do later."""


class Connection(Inbox):
    """An open connection; ``inbox`` begins the subjects of what is answered to it alone.

    To ``deliveries`` come messages of streams.  ``last_words`` are sent before it is closed.
    ``ended`` is what the server ended it with.
    """

    heartbeat = codec.PING
    heartbeat_s = HEARTBEAT_S
    answered = True

    def __init__(self, broker: Broker) -> None:
        self.inbox, self.pongs, self.calls = codec.fresh_inbox(), 0, 0
        self.deliveries = f"{self.inbox}.deliveries.all"
        self.understood, self.come, self.last_words = 0, list[Messages](), b""
        self.ended: Lost | Refused | None = None
        super().__init__(broker, BUFFER_BYTES)

    def messages(self) -> list[Messages]:
        """All whole messages that have come since it was last told to forget them.

        Everything else is dealt with.  Raises ``Lost``, or ``Refused``, where the server has ended
        the connection and none came before.
        """
        while self.ended is None:
            part = codec.parsed(self.buffer, self.understood, self.have)
            if part is None:
                break
            if isinstance(part, bytes):
                self._attend(part)
                self.understood += len(part) + len(codec.END)
            else:
                self.come.append(part)
                self.understood = part.ends[-1]
        if not self.come:
            self._end()
        return self.come

    def forget(self) -> None:
        """Have room for others: their bytes are in the buffer until then.

        Raises ``Lost``, or ``Refused``, where the server has ended the connection behind them.
        """
        self.consumed(self.understood)
        self.understood, self.come = 0, []
        self._end()

    def reached(self) -> None:
        """Return when the server has dealt with all that was sent before; messages are kept."""
        wanted = self.pongs + 1
        self.send(codec.PING)
        self.finish_sending()
        while self.pongs < wanted:
            self._end()
            self.fill()
            self.messages()

    def call(self, verb: str, name: str, values: Mapping[str, object]) -> bytes:
        """Ask JetStream for something until it is done; gives the answer.

        Raises ``Refused`` when it will not be done.
        """
        limit = time.monotonic() + READY_S
        while (error := problem(answer := self._answer(verb, name, values))) is not None:
            if isinstance(error, Refused) or time.monotonic() > limit:
                raise Refused(f"{self.address}: {verb} {name}: {error}")
            time.sleep(PAUSE_S)
        return answer

    def body(self, block: Messages) -> bytes:
        """That of the first of some messages."""
        return bytes(self.view[block.at : block.at + block.size])

    def log_in(self) -> None:
        """Return when the server knows us, and answers come to us."""
        answers = codec.subscribe(f"{self.inbox}.*", ANSWERS)
        self.send(codec.connect(self.broker.user, self.broker.password) + answers)
        self.reached()

    def take_leave(self) -> None:
        """Return when the server has read all that was sent."""
        self.send(self.last_words)
        self.reached()

    def _answer(self, verb: str, name: str, values: Mapping[str, object]) -> bytes:
        """The answer to a request; one that says that nobody listens when none comes in time."""
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
        """A line that begins no message."""
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
    """What an answer of JetStream says that is an error."""
    if answer.startswith(codec.NOBODY):
        return Lost("no answer: no leader, or no JetStream")
    if b'"error"' not in answer:
        return None
    error = json.loads(answer)["error"]
    return (Lost if error["code"] >= NO_LEADER else Refused)(error.get("description", ""))
