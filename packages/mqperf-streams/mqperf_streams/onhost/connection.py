"""A connection to a broker's streams: its handshake, its frames in and out, and how it ends."""

import struct
import time

from mqperf_numbered.onhost.broker import Broker, Refused
from mqperf_numbered.onhost.inbox import HEARTBEAT_S, Inbox
from mqperf_streams.onhost import codec

FRAME_MAX = 1 << 20

READY_S, PAUSE_S = 10.0, 0.1
"""How long a new stream may take until it can be used, and how often that is tried."""

NOT_YET = (codec.NO_STREAM, codec.UNAVAILABLE)
SUBSCRIBED = struct.pack(">H", codec.OK)

Frame = tuple[int, bytes, int]
"""Key, payload behind key and version, and where it ends in the buffer."""


class Connection(Inbox):
    """An open connection.  Frames that have come are in ``buffer`` up to ``have``."""

    heartbeat = codec.frame(codec.HEARTBEAT)

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker, FRAME_MAX * 2)

    def call(self, key: int, payload: bytes) -> int:
        """Send a request, and give the code of its answer."""
        return self._answered(key, payload)[0]

    def asked(self, key: int, payload: bytes) -> None:
        """Send a request; raises ``Refused`` when it is not granted."""
        if (code := self.call(key, payload)) != codec.OK:
            raise Refused(f"{self.address}: {codec.words(code)}")

    def streams(self, name: str, partitions: int) -> list[str]:
        """The partitions of a super stream; a stream is its own, and made unless it is there."""
        if partitions > 1:
            code, content = self._answered(codec.PARTITIONS, codec.string(name))
            names = codec.strings(content) if code == codec.OK else []
            if len(names) != partitions:
                raise Refused(f"{self.address}: {name} has {len(names)} of {partitions} partitions")
            return names
        created = self.call(codec.CREATE, codec.string(name) + codec.pairs({}))
        if created not in {codec.OK, codec.EXISTS}:
            raise Refused(f"{self.address}: {name}: {codec.words(created)}")
        limit = time.monotonic() + READY_S
        while not self._has_leader(name) and time.monotonic() < limit:
            time.sleep(PAUSE_S)
        return [name]

    def _has_leader(self, stream: str) -> bool:
        """Whether it can be used: another client may have only begun to make it.

        RabbitMQ 4.0 ends the connection of who asks for the use of one without a leader.
        """
        return codec.has_leader(self._answer(codec.METADATA, codec.one(stream)))

    def prepared(self, stream: str, key: int, payload: bytes) -> None:
        """Ask for the use of a stream, as soon as it has a leader; raises ``Refused``."""
        limit = time.monotonic() + READY_S
        while (code := self.call(key, payload)) in NOT_YET and time.monotonic() < limit:
            time.sleep(PAUSE_S)
        if code != codec.OK:
            raise Refused(f"{self.address}: {stream}: {codec.words(code)}")

    def frame(self, at: int) -> Frame | None:
        """The frame that begins there, if it is whole."""
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
        """Deal with a frame that concerns the connection; raises ``Lost`` when it ends."""
        if key == codec.CLOSE:
            raise self.lost(payload[8:].decode(errors="replace"))
        if key == codec.METADATA_UPDATE:
            raise self.lost("the stream has no leader, or no replica here, any more")
        if key == codec.SUBSCRIBE | codec.ANSWER and payload[4:] != SUBSCRIBED:
            raise self.lost("the stream is not available yet")
        if key == codec.CREDIT | codec.ANSWER:
            raise Refused("the broker knows nothing of the subscription")

    def _answered(self, key: int, payload: bytes) -> tuple[int, bytes]:
        """The code of the answer to a request, and what else it says."""
        answer = self._answer(key, payload)
        (code,) = struct.unpack_from(">H", answer)
        return int(code), answer[2:]

    def _answer(self, key: int, payload: bytes) -> bytes:
        """The answer to a request, behind the number of the request."""
        self.send(codec.request(key, payload))
        self.finish_sending()
        # RabbitMQ 3.10 answers for partitions as if it asked for them.
        bare = [key] if key == codec.PARTITIONS else []
        return self._expect(key | codec.ANSWER, *bare)[4:]

    def take_leave(self) -> None:
        """Return when the broker has read all that was sent."""
        self.call(codec.CLOSE, struct.pack(">H", codec.OK) + codec.string("done"))

    def log_in(self) -> None:
        """Return when the broker knows us, and has opened the virtual host."""
        broker = self.broker
        self.asked(codec.PEER_PROPERTIES, codec.pairs({"product": "mqperf"}))
        self.asked(codec.SASL_HANDSHAKE, b"")
        identity = codec.opaque(f"\0{broker.user}\0{broker.password}".encode())
        self.asked(codec.SASL_AUTHENTICATE, codec.string("PLAIN") + identity)
        frame_max, heartbeat_s = struct.unpack(">II", self._expect(codec.TUNE))
        self.frame_max = min(frame_max or FRAME_MAX, FRAME_MAX)
        self.heartbeat_s = min(heartbeat_s, broker.heartbeat_s or HEARTBEAT_S)
        tuned = struct.pack(">II", self.frame_max, self.heartbeat_s)
        self.send(codec.frame(codec.TUNE, tuned))
        self.asked(codec.OPEN, codec.string(broker.vhost))

    def _expect(self, *answers: int) -> bytes:
        """The payload of the next frame with such a key; messages that come are of no use yet."""
        while True:
            while (frame := self.frame(0)) is None:
                self.fill()
            key, payload, end = frame
            self.consumed(end)
            if key in answers:
                return payload
            self.attend(key, payload)
