"""What happens to packets on their way: pure decisions about instants, which read no clock."""

import math
from collections import deque
from collections.abc import Iterator
from random import Random
from statistics import NormalDist

STEPS = 16
"""Values that the jitter takes in turn, each once in as many steps: quantiles of a normal one."""

STEP_SIGMAS = 5.0
"""Length of such a step in standard deviations: any shorter, and packets could overtake others."""

HELD_BYTES = 64 << 20
"""Most that is on its way in one direction; more would be memory that the machine lacks."""

BUFFER_S, BUFFER_BYTES = 0.1, 64 * 1500
"""What waits for a slow direction at most: so many seconds of it, or these bytes if more."""


def _quantiles() -> list[float]:
    quantiles = [NormalDist().inv_cdf((number + 0.5) / STEPS) for number in range(STEPS)]
    scale = math.sqrt(sum(quantile * quantile for quantile in quantiles) / STEPS)
    return [quantile / scale for quantile in quantiles]


class CorrelatedJitter:
    """A delay that changes with time and never so quickly that one packet overtakes another.

    At any instant it has this mean and standard deviation; it goes smoothly from one random value
    to the next.  Values are dealt in shuffled blocks, so that short times have the same mean, too.
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
        """The delay of what comes at an instant, never an earlier one than was asked before."""
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

    ``came``, ``lost``, ``full`` (there was no room for them), ``swallowed`` (while it was closed)
    and ``left`` count packets; what came while it was impaired is in ``impaired`` instead, whatever
    became of it.  ``late_s`` is by how much those that left did so too late.
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
        # when each leaves, when it has been put on the wire, and what leaves where
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
        """Treat packets that come from now on in another way; none overtakes an earlier one."""
        self._before = self._before or (self.came, self.lost, self.full)
        self._shape(delay_s, jitter_s, loss_share, bandwidth_bits_s)

    def repair(self, now: float) -> None:
        """Treat them again as from the beginning, and now also those that still wait."""
        if self._before is not None:
            self.impaired += self.came - self._before[0]
            self.came, self.lost, self.full = self._before
            self._before = None
            self._shape(*self._planned)
            self._hurry(now)

    def _shape(
        self, delay_s: float, jitter_s: float, loss: float, bandwidth_bits_s: float | None
    ) -> None:
        self._delay_s = None if jitter_s else delay_s
        self._wander = CorrelatedJitter(delay_s, jitter_s, self._chance)
        self._loss = loss
        self._bytes_s = None if bandwidth_bits_s is None else bandwidth_bits_s / 8

    def _hurry(self, now: float) -> None:
        """Have packets that are not on the wire wait no longer than its rate now asks for."""
        queue, self._queue = self._queue, deque()
        self._free_at, self._last = now, 0.0
        for leaves, sent, out, packet in queue:
            if sent <= now:
                self._queue.append((leaves, sent, out, packet))
                self._last = leaves
            else:
                self._free_at = min(sent, self._free_at + self._sending_s(packet))
                self._travel(self._free_at, out, packet)

    def _sending_s(self, packet: bytes) -> float:
        """How long it takes to put a packet on the wire."""
        return 0.0 if self._bytes_s is None else len(packet) / self._bytes_s

    def _travel(self, sent: float, out: int, packet: bytes) -> None:
        """Let a packet that is then on the wire arrive after the delay, and after all others."""
        delay_s = self._wander.at(sent) if self._delay_s is None else self._delay_s
        self._last = max(self._last, sent + delay_s)
        self._queue.append((self._last, sent, out, packet))

    @property
    def due(self) -> float:
        """When the next packet leaves; infinite when there is none."""
        return self._queue[0][0] if self._queue else math.inf

    def offer(self, now: float, out: int, packet: bytes) -> None:
        """Take a packet that came now and shall leave by ``out``, or drop it."""
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
        self._travel(sent, out, packet)

    def take(self, now: float) -> Iterator[tuple[int, bytes]]:
        """Every packet that is to have left by now, and where to."""
        queue = self._queue
        while queue and queue[0][0] <= now:
            at, _, out, packet = queue.popleft()
            self._held -= len(packet)
            self.left += 1
            self.late_s += now - at
            yield out, packet

    def close(self) -> None:
        """Let nothing in, and lose what is on its way."""
        self.closed = True
        self.swallowed += len(self._queue)
        self._queue.clear()
        self._held = 0
        self._free_at = self._last = 0.0  # nothing is before what comes next

    def open(self) -> None:
        """Let packets in again."""
        self.closed = False
