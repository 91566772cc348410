"""Delay, loss and rate of packets on a link: pure computations on instants, which read no clock."""

import math
from collections import deque
from collections.abc import Iterator
from random import Random
from statistics import NormalDist

STEPS = 16
"""Values of the jitter, quantiles of a normal distribution; each occurs once in as many steps."""

STEP_SIGMAS = 5.0
"""Length of a step in standard deviations; with shorter ones packets could overtake others."""

HELD_BYTES = 64 << 20
"""Most bytes on their way in one direction, which limits memory."""

BUFFER_S, BUFFER_BYTES = 0.1, 64 * 1500
"""Largest backlog of a limited direction: so many seconds at its rate, or these bytes if more."""


def _quantiles() -> list[float]:
    quantiles = [NormalDist().inv_cdf((number + 0.5) / STEPS) for number in range(STEPS)]
    scale = math.sqrt(sum(quantile * quantile for quantile in quantiles) / STEPS)
    return [quantile / scale for quantile in quantiles]


class CorrelatedJitter:
    """A delay that changes with time and never so quickly that one packet overtakes another.

    At any instant it has this mean and standard deviation; it moves smoothly from one random value
    to the next.  Values come in shuffled blocks, so that short periods have the same mean, too.
    """

    def __init__(self, delay_s: float, jitter_s: float, random: Random) -> None:
        """Begin at the instant 0."""
        self._delay_s, self._jitter_s, self._random = delay_s, jitter_s, random
        self._step_s = STEP_SIGMAS * jitter_s
        self._block: list[float] = []
        self._number = 0
        if jitter_s:
            self._from, self._to = self._next(), self._next()

    def at(self, instant: float) -> float:
        """Return the delay of a packet at an instant; instants never decrease between calls."""
        if not self._jitter_s:
            return self._delay_s
        number, inside = divmod(instant / self._step_s, 1.0)
        if number > self._number:
            for _ in range(min(int(number) - self._number, STEPS)):
                self._from, self._to = self._to, self._next()
            self._number = int(number)
        angle = inside * math.pi / 2
        value = self._from * math.cos(angle) + self._to * math.sin(angle)
        return max(0.0, self._delay_s + self._jitter_s * value)

    def _next(self) -> float:
        if not self._block:
            self._block = _quantiles()
            self._random.shuffle(self._block)
        return self._block.pop()


class Direction:
    """One direction of a link: packets come in, and leave in the same order, or not at all.

    ``came``, ``lost``, ``full`` (dropped as there was no room), ``swallowed`` (while it was closed)
    and ``left`` count packets; those that came while it was impaired count as ``impaired`` only,
    not as came, lost or full.  ``late_s`` is the sum of delays beyond the due instants.
    """

    def __init__(
        self,
        delay_s: float = 0.0,
        jitter_s: float = 0.0,
        loss_share: float = 0.0,
        bandwidth_bits_s: float | None = None,
        seed: int | str = 0,
    ) -> None:
        """Begin open and empty."""
        self._chance = Random(seed)
        self._random = self._chance.random
        self._planned = (delay_s, jitter_s, loss_share, bandwidth_bits_s)
        self._shape(*self._planned)
        self._free_at = self._last = 0.0
        # instant of leaving, instant when it is on the wire, file to leave by, packet
        self._queue: deque[tuple[float, float, int, bytes]] = deque()
        self._held = 0
        self.closed = False
        self.came = self.lost = self.full = self.swallowed = self.left = self.impaired = 0
        self._before: tuple[int, int, int] | None = None
        self.late_s = 0.0

    def impair(
        self,
        delay_s: float = 0.0,
        jitter_s: float = 0.0,
        loss_share: float = 0.0,
        bandwidth_bits_s: float | None = None,
    ) -> None:
        """Apply other quantities to packets from now on; none overtakes an earlier one."""
        self._before = self._before or (self.came, self.lost, self.full)
        self._shape(delay_s, jitter_s, loss_share, bandwidth_bits_s)

    def repair(self, now: float) -> None:
        """Apply the initial quantities again, also to packets that still wait."""
        if self._before is not None:
            self.impaired += self.came - self._before[0]
            self.came, self.lost, self.full = self._before
            self._before = None
            self._shape(*self._planned)
            self._reschedule(now)

    def _shape(
        self, delay_s: float, jitter_s: float, loss: float, bandwidth_bits_s: float | None
    ) -> None:
        self._delay_s = None if jitter_s else delay_s
        self._jitter = CorrelatedJitter(delay_s, jitter_s, self._chance)
        self._loss = loss
        self._bytes_s = None if bandwidth_bits_s is None else bandwidth_bits_s / 8

    def _reschedule(self, now: float) -> None:
        """Let packets that are not on the wire wait no longer than the current rate requires."""
        queue, self._queue = self._queue, deque()
        self._free_at, self._last = now, 0.0
        for leaves, sent, out, packet in queue:
            if sent <= now:
                self._queue.append((leaves, sent, out, packet))
                self._last = leaves
            else:
                self._free_at = min(sent, self._free_at + self._sending_s(packet))
                self._enqueue(self._free_at, out, packet)

    def _sending_s(self, packet: bytes) -> float:
        """Return the time to put a packet on the wire."""
        return 0.0 if self._bytes_s is None else len(packet) / self._bytes_s

    def _enqueue(self, sent: float, out: int, packet: bytes) -> None:
        """Queue a packet, on the wire at ``sent``, to leave after the delay and all others."""
        delay_s = self._jitter.at(sent) if self._delay_s is None else self._delay_s
        self._last = max(self._last, sent + delay_s)
        self._queue.append((self._last, sent, out, packet))

    @property
    def due(self) -> float:
        """The instant at which the next packet leaves; infinite if there is none."""
        return self._queue[0][0] if self._queue else math.inf

    def offer(self, now: float, out: int, packet: bytes) -> None:
        """Queue a packet that came now to leave by ``out``, or drop it."""
        self.came += 1
        if self.closed:
            self.swallowed += 1
            return
        if self._loss and self._random() < self._loss:
            self.lost += 1
            return
        size = len(packet)
        if self._held + size > HELD_BYTES:
            self.full += 1
            return
        sent = now
        if self._bytes_s is not None:
            begins = max(now, self._free_at)
            if (begins - now) * self._bytes_s > max(BUFFER_BYTES, BUFFER_S * self._bytes_s):
                self.full += 1
                return
            sent = self._free_at = begins + self._sending_s(packet)
        self._held += size
        self._enqueue(sent, out, packet)

    def take(self, now: float) -> Iterator[tuple[int, bytes]]:
        """Yield every packet that is due by now, after the file it leaves by."""
        queue = self._queue
        while queue and queue[0][0] <= now:
            at, _, out, packet = queue.popleft()
            self._held -= len(packet)
            self.left += 1
            self.late_s += now - at
            yield out, packet

    def close(self) -> None:
        """Drop packets on their way, and all that come from now on."""
        self.closed = True
        self.swallowed += len(self._queue)
        self._queue.clear()
        self._held = 0
        self._free_at = self._last = 0.0  # the next packet follows none

    def open(self) -> None:
        """Let packets in again."""
        self.closed = False
