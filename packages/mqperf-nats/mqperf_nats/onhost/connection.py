"""A connection to a server of NATS: how it logs in, what comes and goes, and how it ends."""

import json
import select
import time
from collections.abc import Mapping

from mqperf_nats.onhost import codec
from mqperf_nats.onhost.codec import Messages
from mqperf_numbered.onhost.inbox import HEARTBEAT_S, Inbox
from mqperf_numbered.onhost.managed_connections import Broker, Lost, Refused
from mqperf_numbered.onhost.outbox import connected

BUFFER_BYTES = 1 << 18

ANSWERS, DELIVERIES = 1, 2
"""Numbers of subscriptions: to what is answered to this connection, and to messages of the load."""

READY_S, ANSWER_S, PAUSE_S = 20.0, 2.0, 0.1
"""How long JetStream may be unable, how long it may not answer, and when it is asked again.

A cluster may leave one of two clients without an answer that make a stream at the same time.
"""

CALL, CONSUMER = "call", "consumer"
"""How subjects end to which JetStream answers; confirms of messages have numbers there."""

NO_LEADER = 500
"""From this code on, what JetStream cannot do now it may do later."""


class Connection(Inbox):
    """An open connection; ``inbox`` begins the subjects of what is answered to it alone."""

    heartbeat = codec.PING
    heartbeat_s = HEARTBEAT_S
    answered = True

    def __init__(self, broker: Broker) -> None:
        """Connect and log in; raises ``Refused``, or ``Lost`` when no address answers."""
        super().__init__(BUFFER_BYTES)
        self.inbox, self.pongs, self.asked = codec.fresh_inbox(), 0, 0
        self.understood, self.come = 0, list[Messages]()
        self.socket, self.address = connected(broker.addresses)
        try:
            answers = codec.subscribe(f"{self.inbox}.*", ANSWERS)
            self.send(codec.connect(broker.user, broker.password) + answers)
            self.reached()
        except BaseException:
            self.socket.close()
            raise

    def messages(self) -> list[Messages]:
        """All whole messages that have come since it was last told to forget them.

        Everything else is dealt with.
        """
        while (part := codec.parsed(self.buffer, self.understood, self.have)) is not None:
            if isinstance(part, bytes):
                self._attend(part)
                self.understood += len(part) + len(codec.END)
            else:
                self.come.append(part)
                self.understood = part.ends[-1]
        return self.come

    def forget(self) -> None:
        """Have room for others: their bytes are in the buffer until then."""
        self.consumed(self.understood)
        self.understood, self.come = 0, []

    def reached(self) -> None:
        """Return when the server has dealt with all that was sent before; messages are kept."""
        wanted = self.pongs + 1
        self.send(codec.PING)
        self.finish_sending()
        while self.pongs < wanted:
            self._fill()
            self.messages()

    def call(self, verb: str, name: str, values: Mapping[str, object]) -> None:
        """Ask JetStream for something until it is done; raises ``Refused`` when it will not be."""
        limit = time.monotonic() + READY_S
        while True:
            self.asked += 1
            reply = f"{self.inbox}.{CALL}-{self.asked}"
            self.send(codec.request(verb, name, values, reply))
            self.finish_sending()
            answer = self._answer(reply.encode())
            code, why = (NO_LEADER, "no answer") if answer is None else problem(answer)
            if not code:
                return
            if code < NO_LEADER or time.monotonic() > limit:
                raise Refused(f"{self.address}: {verb} {name}: {why}")
            time.sleep(PAUSE_S)

    def body(self, block: Messages) -> bytes:
        """That of the first of some messages."""
        return bytes(self.view[block.at : block.at + block.size])

    def close(self, timeout_s: float) -> bool:
        """Wait until the server has dealt with all that was sent; whether it has."""
        try:
            self.socket.settimeout(max(timeout_s, PAUSE_S))
            self.reached()
        except Lost:
            return False
        finally:
            self.socket.close()
        return True

    def _answer(self, reply: bytes) -> bytes | None:
        """What comes to this subject; None when nothing does in time."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        while poll.poll(ANSWER_S * 1000):
            self._fill()
            answers = [self.body(block) for block in self.messages() if block.subject == reply]
            self.forget()
            if answers:
                return answers[0]
        return None

    def _fill(self) -> None:
        try:
            self.fill()
        except Lost as error:
            raise Lost(f"{self.address}: {error}") from None

    def _attend(self, line: bytes) -> None:
        """A line that begins no message; raises ``Lost``, or ``Refused``, for what is said last."""
        if line == b"PING":
            self.send(codec.PONG)
        elif line == b"PONG":
            self.pongs += 1
        elif line.startswith(b"-ERR"):
            why = line[5:].decode(errors="replace").strip("'")
            raise (Refused if "Authorization" in why else Lost)(f"{self.address}: {why}")


def problem(answer: bytes) -> tuple[int, str]:
    """The code and the words of an answer of JetStream that is an error; 0 for any other one."""
    if answer.startswith(codec.NOBODY):
        return NO_LEADER, "no leader, or no JetStream"
    if b'"error"' not in answer:
        return 0, ""
    error = json.loads(answer)["error"]
    return int(error["code"]), str(error.get("description", ""))
