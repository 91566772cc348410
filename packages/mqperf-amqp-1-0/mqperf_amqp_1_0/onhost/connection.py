"""A connection with one session: handshake, frames in and out, and close.

Calls that set something up wait for their answer; nothing blocks once messages flow.
"""

import secrets

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import Described, composite, uint
from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_numbered.onhost.inbox import Inbox

IDLE_S = 30
"""The idle timeout that is announced: the other end must send something at least as often."""

FRAME_MAX = 1 << 17
LEAST_FRAME = 512
"""The least frame size of the standard, sufficient for all performatives that are sent."""

BUFFER = 1 << 18
WINDOW = (1 << 31) - 1
LINKS = 1 << 16
FORCED = ("connection:forced", "link:detach-forced")
"""Conditions with which a broker closes connections and links when it is stopped."""


class Connection(Inbox):
    """An open connection.  Received frames are in ``buffer`` up to ``have``.

    ``outgoing`` and ``incoming`` are the ids of the next transfer frames sent and received;
    ``window`` is how many more frames the other end accepts now.
    """

    heartbeat = codec.EMPTY
    heartbeat_s = 0.0
    patience_s = 2.0 * IDLE_S

    def __init__(self, broker: Broker) -> None:
        self.outgoing = self.incoming = self.window = 0
        self.frame_max = LEAST_FRAME
        super().__init__(broker, BUFFER)

    # set-up: every call blocks

    def expect(self, *codes: int) -> tuple[Described, bytes]:
        """Wait for one of these performatives; return it and its payload, ``attend`` all others."""
        while True:
            kind, body = self._next()
            if not body:
                continue
            described, payload = performative(body)
            if described.code in codes and kind in {codec.AMQP, codec.SASL}:
                return described, payload
            self.attend(described)

    # messages flow

    def frame(self, at: int) -> tuple[int, bytes, int] | None:
        """Return type, body and end of the frame at that offset; None if it is not whole."""
        if self.have - at < codec.FRAME.size:
            return None
        size, words, kind, _ = codec.FRAME.unpack_from(self.buffer, at)
        if not codec.FRAME.size <= 4 * words <= size <= FRAME_MAX:
            raise Refused(f"{self.address} sent a frame of {size} bytes, {FRAME_MAX} are allowed")
        if at + size > self.have:
            return None
        return kind, bytes(self.buffer[at + 4 * words : at + size]), at + size

    def attend(self, described: Described) -> None:
        """Handle performatives of connection or session; raises ``Lost`` or ``Refused`` at an end.

        The session's part of a flow is handled here, the link's part by the link.
        """
        if described.code == codec.FLOW:
            next_incoming = described.field(0)
            self.window = described.field(1) - codec.ahead(
                self.outgoing, 0 if next_incoming is None else next_incoming
            )
        elif described.code in {codec.CLOSE, codec.END}:
            closed = "connection" if described.code == codec.CLOSE else "session"
            raise self.ended(f"the {closed} was closed", described.field(0))
        elif described.code == codec.DETACH:
            raise self.ended("the link was detached", described.field(2))

    def ended(self, event: str, error: Described | None) -> Lost | Refused:
        """Return the error for a close by the other end: it is stopped, or it refuses."""
        message = f"{event}: {codec.said(error)}"
        stopped = error is None or str(error.field(0)).endswith(FORCED)
        return self.lost(message) if stopped else Refused(message)

    def take_leave(self) -> None:
        """Close the connection; return when the other end has read all that was sent."""
        self.send(codec.frame(composite(codec.CLOSE)))
        self.finish_sending()
        while not ((body := self._next()[1]) and performative(body)[0].code == codec.CLOSE):
            pass

    def log_in(self) -> None:
        """Log in, and open the connection and a session."""
        self._authenticate()
        self._open()

    def _next(self) -> tuple[int, bytes]:
        """Wait for the next frame; return its type and body, which is empty for a heartbeat."""
        while (frame := self.frame(0)) is None:
            self.fill()
        kind, body, end = frame
        self.consumed(end)
        return kind, body

    def _authenticate(self) -> None:
        """Authenticate by SASL, as the broker's user or, without one, anonymously."""
        self._agree(codec.SASL_PROTOCOL)
        mechanisms, _ = self.expect(codec.MECHANISMS)
        mechanism = "PLAIN" if self.broker.user else "ANONYMOUS"
        offered = mechanisms.field(0)
        names = offered if isinstance(offered, list) else [offered]
        if mechanism not in names:
            raise Refused(f"SASL {mechanism} is not offered, but {', '.join(map(str, names))}")
        identity = f"\0{self.broker.user}\0{self.broker.password}" if self.broker.user else "mqperf"
        fields = codec.symbol(mechanism), codec.binary(identity.encode())
        self.send(codec.frame(composite(codec.INIT, *fields), codec.SASL))
        outcome, _ = self.expect(codec.OUTCOME, codec.CHALLENGE)
        if outcome.code == codec.CHALLENGE or outcome.field(0) != 0:
            who = f"user {self.broker.user}" if self.broker.user else "nobody"
            raise Refused(f"SASL {mechanism} as {who} was refused")

    def _open(self) -> None:
        self._agree(codec.PROTOCOL)
        name = codec.string(f"mqperf-{secrets.token_hex(8)}")
        host = codec.string(self._virtual_host or self.address.rpartition(":")[0].strip("[]"))
        open_fields = name, host, uint(FRAME_MAX), b"\x60\0\0", uint(IDLE_S * 1000)
        begin_fields = codec.NULL, uint(0), uint(WINDOW), uint(WINDOW), uint(LINKS - 1)
        self.send(codec.frame(composite(codec.OPEN, *open_fields)))
        self.send(codec.frame(composite(codec.BEGIN, *begin_fields)))
        answer, _ = self.expect(codec.OPEN)
        frame_max, idle_ms = answer.field(2), answer.field(4)
        self.frame_max = min(FRAME_MAX if frame_max is None else frame_max, FRAME_MAX)
        self.heartbeat_s = (idle_ms or 0) / 1000
        session, _ = self.expect(codec.BEGIN)
        self.incoming, self.window = session.field(1), session.field(2)
        handles = session.field(4)
        self.handles = LINKS if handles is None else min(handles + 1, LINKS)

    @property
    def _virtual_host(self) -> str:
        """The host name by which RabbitMQ selects a virtual host; empty for the default one."""
        return f"vhost:{self.broker.vhost}" if self.broker.vhost != "/" else ""

    def _agree(self, protocol: bytes) -> None:
        """Exchange protocol headers with the other end."""
        self.send(protocol)
        while self.have < len(protocol):
            self.fill()
        answer = bytes(self.buffer[: len(protocol)])
        self.consumed(len(protocol))
        if answer != protocol:
            raise Refused(f"{self.address} speaks no AMQP 1.0: it answers {answer!r}")


def performative(body: bytes) -> tuple[Described, bytes]:
    """Decode the body of a frame: its performative and payload.  Raises ``Refused``."""
    try:
        return codec.performative(body)
    except ValueError as error:
        raise Refused(f"a frame cannot be read: {error}") from None
