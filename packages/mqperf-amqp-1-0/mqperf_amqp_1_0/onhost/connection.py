"""A connection with one session: its handshake, its frames in and out, and how it ends.

What sets something up waits for its answer; once messages flow, nothing waits but the caller.
"""

import secrets

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import Described, composite, uint
from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_numbered.onhost.inbox import Inbox

IDLE_S = 30
"""The other end shows at least as often that it is there: that is asked of it."""

FRAME_MAX = 1 << 17
LEAST_FRAME = 512
"""The standard's: no frame with a performative of ours is larger."""

BUFFER = 1 << 18
WINDOW = (1 << 31) - 1
LINKS = 1 << 16
FORCED = ("connection:forced", "link:detach-forced")
"""Conditions with which a broker that is stopped closes connections and links."""


class Connection(Inbox):
    """An open connection.  Frames that have come are in ``buffer`` up to ``have``.

    ``outgoing`` is the id of the next frame of a message that is sent, ``incoming`` of the next one
    that comes; ``window`` is how many more the other end takes now.
    """

    heartbeat = codec.EMPTY
    heartbeat_s = 0.0
    patience_s = 2.0 * IDLE_S

    def __init__(self, broker: Broker) -> None:
        self.outgoing = self.incoming = self.window = 0
        self.frame_max = LEAST_FRAME
        super().__init__(broker, BUFFER)

    # set up: every call waits

    def expect(self, *codes: int) -> tuple[Described, bytes]:
        """The next of these performatives, with its payload; all others concern the connection."""
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
        """Type and body of the frame that begins there, and where it ends, if it is whole."""
        if self.have - at < codec.FRAME.size:
            return None
        size, words, kind, _ = codec.FRAME.unpack_from(self.buffer, at)
        if not codec.FRAME.size <= 4 * words <= size <= FRAME_MAX:
            raise Refused(f"{self.address} sent a frame of {size} bytes, {FRAME_MAX} are allowed")
        if at + size > self.have:
            return None
        return kind, bytes(self.buffer[at + 4 * words : at + size]), at + size

    def attend(self, described: Described) -> None:
        """Deal with what concerns connection or session; raises ``Lost`` or ``Refused`` at an end.

        A flow says what the session takes; what it says of a link is the link's to read.
        """
        if described.code == codec.FLOW:
            begun = described.field(0)
            self.window = described.field(1) - codec.ahead(
                self.outgoing, 0 if begun is None else begun
            )
        elif described.code in {codec.CLOSE, codec.END}:
            part = "connection" if described.code == codec.CLOSE else "session"
            raise self.ended(f"the {part} was closed", described.field(0))
        elif described.code == codec.DETACH:
            raise self.ended("the link was detached", described.field(2))

    def ended(self, event: str, error: Described | None) -> Lost | Refused:
        """What the other end says when it closes: that it stops, or that it refuses."""
        words = f"{event}: {codec.said(error)}"
        stops = error is None or str(error.field(0)).endswith(FORCED)
        return self.lost(words) if stops else Refused(words)

    def take_leave(self) -> None:
        """Return when the other end has read all that was sent, and closes, too."""
        self.send(codec.frame(composite(codec.CLOSE)))
        self.finish_sending()
        while not ((body := self._next()[1]) and performative(body)[0].code == codec.CLOSE):
            pass

    def log_in(self) -> None:
        """Return when there is a session."""
        self._authenticate()
        self._open()

    def _next(self) -> tuple[int, bytes]:
        """Type and body of the next frame; an empty one only shows that its sender is there."""
        while (frame := self.frame(0)) is None:
            self.fill()
        kind, body, end = frame
        self.consumed(end)
        return kind, body

    def _authenticate(self) -> None:
        """SASL, as who is named, or as nobody."""
        self._agree(codec.SASL_PROTOCOL)
        offered, _ = self.expect(codec.MECHANISMS)
        mechanism = "PLAIN" if self.broker.user else "ANONYMOUS"
        listed = offered.field(0)
        names = listed if isinstance(listed, list) else [listed]
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
        opened = name, host, uint(FRAME_MAX), b"\x60\0\0", uint(IDLE_S * 1000)
        begun = codec.NULL, uint(0), uint(WINDOW), uint(WINDOW), uint(LINKS - 1)
        self.send(codec.frame(composite(codec.OPEN, *opened)))
        self.send(codec.frame(composite(codec.BEGIN, *begun)))
        answer, _ = self.expect(codec.OPEN)
        theirs, idle_ms = answer.field(2), answer.field(4)
        self.frame_max = min(FRAME_MAX if theirs is None else theirs, FRAME_MAX)
        self.heartbeat_s = (idle_ms or 0) / 1000
        session, _ = self.expect(codec.BEGIN)
        self.incoming, self.window = session.field(1), session.field(2)
        handles = session.field(4)
        self.handles = LINKS if handles is None else min(handles + 1, LINKS)

    @property
    def _virtual_host(self) -> str:
        """The host that is asked for, as RabbitMQ reads it; nothing for the usual one."""
        return f"vhost:{self.broker.vhost}" if self.broker.vhost != "/" else ""

    def _agree(self, protocol: bytes) -> None:
        """Both ends name the protocol that follows."""
        self.send(protocol)
        while self.have < len(protocol):
            self.fill()
        answer = bytes(self.buffer[: len(protocol)])
        self.consumed(len(protocol))
        if answer != protocol:
            raise Refused(f"{self.address} speaks no AMQP 1.0: it answers {answer!r}")


def performative(body: bytes) -> tuple[Described, bytes]:
    """What a frame says, and its payload; raises ``Refused`` for what is no AMQP 1.0."""
    try:
        return codec.performative(body)
    except ValueError as error:
        raise Refused(f"a frame cannot be read: {error}") from None
