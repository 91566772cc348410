"""A connection to the broker: handshake, frames in and out, and close.

Calls that set something up wait for their answer; nothing blocks once messages flow.
"""

import struct

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import Method, Reader, long, short
from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_numbered.onhost.inbox import HEARTBEAT_S, Inbox

FRAME_MAX = 131_072
BUFFER = 1 << 20

FORCED = 320
"""The reply code with which a broker closes its connections when it is stopped."""

PROPERTIES: codec.Table = {
    "product": "mqperf",
    "capabilities": {
        "publisher_confirms": True,
        "basic.nack": True,
        "connection.blocked": True,
        "consumer_cancel_notify": True,
        "authentication_failure_close": True,
    },
}


class Connection(Inbox):
    """An open connection to a broker of ``version``, which is () if the broker does not send it.

    Received frames are in ``buffer`` up to ``have``.
    """

    heartbeat = codec.HEARTBEAT

    def __init__(self, broker: Broker) -> None:
        self.blocked = False
        super().__init__(broker, broker.buffer_bytes or BUFFER)

    # set-up: every call blocks

    def call(self, channel: int, which: Method, arguments: bytes) -> Reader:
        """Send a method; return the arguments of its answer, whose id is the next of its class."""
        self.send(codec.method(channel, which, arguments))
        self.finish_sending()
        return self._expect((which[0], which[1] + 1))

    def open_channel(self, channel: int) -> None:
        """Open the channel of that number."""
        self.call(channel, codec.CHANNEL_OPEN, b"\0")

    # messages flow

    def frame(self, at: int) -> tuple[int, int, bytes] | None:
        """Return type, channel and payload of the frame at that offset; None if it is not whole."""
        if self.have - at < codec.FRAME.size:
            return None
        kind, channel, size = codec.FRAME.unpack_from(self.buffer, at)
        end = at + size + codec.OVERHEAD
        if end > self.have:
            return None
        if self.buffer[end - 1] != codec.END:
            raise self.lost("the broker sent a frame without its end")
        return kind, channel, bytes(self.buffer[at + codec.FRAME.size : end - 1])

    def attend(self, channel: int, payload: bytes) -> bool:
        """Handle a method that concerns the connection; return False for any other method.

        Raises ``Refused`` with the broker's text if it closed the channel or the connection.
        """
        which = codec.which(payload)
        if which == codec.BLOCKED:
            self.blocked = True
        elif which == codec.UNBLOCKED:
            self.blocked = False
        elif which in {codec.CLOSE, codec.CHANNEL_CLOSE}:
            raise self._end(payload)
        elif which == codec.FLOW:
            self.send(codec.method(channel, codec.FLOW_OK, payload[4:5]))
            return False
        else:
            return False
        return True

    def take_leave(self) -> None:
        """Close the connection; return when the broker has read all that was sent."""
        self.call(0, codec.CLOSE, struct.pack(">HBHH", 200, 0, 0, 0))

    def log_in(self) -> None:
        """Log in, and open the virtual host."""
        self.send(codec.HEADER)
        self.version = codec.version_of(self._expect(codec.START))
        identity = long(f"\0{self.broker.user}\0{self.broker.password}".encode())
        arguments = codec.table(PROPERTIES) + short("PLAIN") + identity + short("en_US")
        self.send(codec.method(0, codec.START_OK, arguments))
        tune = self._expect(codec.TUNE)
        self.channel_max = tune.number("H") or 65_535
        self.frame_max = min(tune.number("I") or FRAME_MAX, FRAME_MAX)
        self.heartbeat_s = min(tune.number("H"), self.broker.heartbeat_s or HEARTBEAT_S)
        tuned = struct.pack(">HIH", self.channel_max, self.frame_max, self.heartbeat_s)
        self.send(codec.method(0, codec.TUNE_OK, tuned))
        self.call(0, codec.OPEN, short(self.broker.vhost) + b"\0\0")

    def _expect(self, answer: Method) -> Reader:
        """Wait for this method; handle those that concern the connection, ignore all others."""
        while True:
            while (frame := self.frame(0)) is None:
                try:
                    self.fill()
                except Lost as error:
                    if answer in {codec.START, codec.TUNE}:
                        raise Lost(f"the broker ended the handshake: {error}") from None
                    raise
            kind, channel, payload = frame
            self.consumed(len(payload) + codec.OVERHEAD)
            if kind == codec.METHOD and codec.which(payload) == answer:
                return Reader(payload)
            if kind == codec.METHOD:
                self.attend(channel, payload)

    def _end(self, payload: bytes) -> Lost | Refused:
        """Return the error for a close by the broker: it is stopped, or it refuses."""
        reader = Reader(payload)
        code, text = reader.number("H"), reader.short().decode(errors="replace")
        return self.lost(text) if code == FORCED else Refused(text)
