"""A connection to a broker's streams: handshake, frames in and out, and close."""

import struct
import time

from mqperf_numbered.onhost.broker import Broker, Refused
from mqperf_numbered.onhost.inbox import HEARTBEAT_S, Inbox
from mqperf_streams.onhost import codec

FRAME_MAX = 1 << 20

READY_S, PAUSE_S = 10.0, 0.1
"""The longest time until a new stream can be used, and the pause between attempts."""

NOT_YET = (codec.NO_STREAM, codec.UNAVAILABLE)
SUBSCRIBED = struct.pack(">H", codec.OK)

Frame = tuple[int, bytes, int]
"""Key, payload after key and version, and the end of the frame in the buffer."""


class Connection(Inbox):
    """An open connection.  Received frames are in ``buffer`` up to ``have``."""

    heartbeat = codec.frame(codec.HEARTBEAT)

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker, FRAME_MAX * 2)

    def call(self, key: int, payload: bytes) -> int:
        """Send a request; return the code of its answer."""
        return self._code_and_content(key, payload)[0]

    def require(self, key: int, payload: bytes) -> None:
        """Send a request; raises ``Refused`` if it fails."""
        if (code := self.call(key, payload)) != codec.OK:
            raise Refused(f"{self.address}: {codec.words(code)}")

    def streams(self, name: str, partitions: int) -> list[str]:
        """Return the partitions of a super stream; or the stream, created if it is missing."""
        if partitions > 1:
            code, content = self._code_and_content(codec.PARTITIONS, codec.string(name))
            names = codec.strings(content) if code == codec.OK else []
            if len(names) != partitions:
                raise Refused(f"{self.address}: {name} has {len(names)} of {partitions} partitions")
            return names
        created = self.call(codec.CREATE, codec.string(name) + codec.pairs({}))
        if created not in {codec.OK, codec.EXISTS}:
            raise Refused(f"{self.address}: {name}: {codec.words(created)}")
        deadline = time.monotonic() + READY_S
        while not self._has_leader(name) and time.monotonic() < deadline:
            time.sleep(PAUSE_S)
        return [name]

    def _has_leader(self, stream: str) -> bool:
        """Whether a stream can be used; another client may have only begun to create it.

        RabbitMQ 4.0 closes the connection of a client that uses a stream without a leader.
        """
        return codec.has_leader(self._answer(codec.METADATA, codec.one(stream)))

    def prepared(self, stream: str, key: int, payload: bytes) -> None:
        """Repeat a request until the stream has a leader; raises ``Refused``."""
        deadline = time.monotonic() + READY_S
        while (code := self.call(key, payload)) in NOT_YET and time.monotonic() < deadline:
            time.sleep(PAUSE_S)
        if code != codec.OK:
            raise Refused(f"{self.address}: {stream}: {codec.words(code)}")

    def frame(self, at: int) -> Frame | None:
        """Return the frame at that offset; None if it is not whole."""
        if self.have - at < codec.SIZE.size + codec.COMMAND.size:
            return None
        (size,) = codec.SIZE.unpack_from(self.buffer, at)
        begin = at + codec.SIZE.size
        if self.have < begin + size:
            return None
        key, _ = codec.COMMAND.unpack_from(self.buffer, begin)
        payload = bytes(self.view[begin + codec.COMMAND.size : begin + size])
        return key, payload, begin + size

    def attend(self, key: int, payload: bytes) -> None:
        """Handle a frame that concerns the connection; raises ``Lost`` or ``Refused`` at an end."""
        if key == codec.CLOSE:
            raise self.lost(payload[8:].decode(errors="replace"))
        if key == codec.METADATA_UPDATE:
            raise self.lost("the stream has no leader, or no replica here, any more")
        if key == codec.SUBSCRIBE | codec.ANSWER and payload[4:] != SUBSCRIBED:
            raise self.lost("the stream is not available yet")
        if key == codec.CREDIT | codec.ANSWER:
            raise Refused("the broker knows nothing of the subscription")

    def _code_and_content(self, key: int, payload: bytes) -> tuple[int, bytes]:
        """Send a request; return the code and the content of its answer."""
        answer = self._answer(key, payload)
        (code,) = struct.unpack_from(">H", answer)
        return int(code), answer[2:]

    def _answer(self, key: int, payload: bytes) -> bytes:
        """Send a request; return its answer, after the correlation id."""
        self.send(codec.request(key, payload))
        self.finish_sending()
        # RabbitMQ 3.10 answers PARTITIONS with the key of the request.
        request_key = [key] if key == codec.PARTITIONS else []
        return self._expect(key | codec.ANSWER, *request_key)[4:]

    def take_leave(self) -> None:
        """Close the connection; return when the broker has read all that was sent."""
        self.call(codec.CLOSE, struct.pack(">H", codec.OK) + codec.string("done"))

    def log_in(self) -> None:
        """Log in, and open the virtual host."""
        broker = self.broker
        self.require(codec.PEER_PROPERTIES, codec.pairs({"product": "mqperf"}))
        self.require(codec.SASL_HANDSHAKE, b"")
        identity = codec.opaque(f"\0{broker.user}\0{broker.password}".encode())
        self.require(codec.SASL_AUTHENTICATE, codec.string("PLAIN") + identity)
        frame_max, heartbeat_s = struct.unpack(">II", self._expect(codec.TUNE))
        self.frame_max = min(frame_max or FRAME_MAX, FRAME_MAX)
        self.heartbeat_s = min(heartbeat_s, broker.heartbeat_s or HEARTBEAT_S)
        tuned = struct.pack(">II", self.frame_max, self.heartbeat_s)
        self.send(codec.frame(codec.TUNE, tuned))
        self.require(codec.OPEN, codec.string(broker.vhost))

    def _expect(self, *answers: int) -> bytes:
        """Wait for a frame with one of these keys; return its payload, ``attend`` all others."""
        while True:
            while (frame := self.frame(0)) is None:
                self.fill()
            key, payload, end = frame
            self.consumed(end)
            if key in answers:
                return payload
            self.attend(key, payload)
