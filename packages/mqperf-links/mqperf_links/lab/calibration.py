"""What a link is like, by datagrams between hosts of its ends; not for a measured window."""

import json
import statistics
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from mqperf.base.errors import HostError
from mqperf.hosts import Host
from mqperf.plan import LinkPoint
from mqperf.record import MeasuredLink
from mqperf_links.lab import programs
from mqperf_links.onhost import echoes

PROGRAM = Path(echoes.__file__)

ECHOES, GAP_S = 50, 0.005
"""Echoes of a measurement, and the time between them; more where the link loses or varies."""

MOST_ECHOES = 2_000
SURE = 20
"""Where so many echoes are expected back, and none comes, the link is down."""

LONGEST_S = 5.0
JITTER_S = 160.0
"""Where the delay varies, a measurement takes so many standard deviations of it, or the above."""

ECHO_BITS = 8 * (28 + 25)
"""An echo on the way, with the headers of UDP and IP."""

BURST_S, BURST_LEAST, BURST_MOST = 0.4, 40, 12_000
"""How long a limited link is kept full, and with how many datagrams."""

OVERFILL = 1.5
"""More than it can carry by so much, that a sender who has to wait leaves no gap."""

JITTERS = 100
"""A burst lasts so many standard deviations of the delay, which moves its ends."""

SMALLEST, LARGEST = 25, 1_400
"""Bytes of a datagram."""

HEADERS = 28
FLOOD, FLOOD_BYTES, FLOOD_S = 10_000, 40, 0.5
"""Datagrams for loss: with so many a share is known within 1.5 % at three standard errors."""

WAIT_S = 0.5
LIMIT_S = 120.0
FAULT = "the link cannot be measured"


@dataclass(frozen=True, slots=True)
class Pair:
    """A host of either end, and the port on which the second answers."""

    asks: Host
    answers: Host
    port: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Pairs of hosts between which datagrams go over the link, in both directions."""

    asked: LinkPoint
    pairs: tuple[Pair, ...]

    @classmethod
    @contextmanager
    def between(cls, asked: LinkPoint, hosts: Sequence[tuple[Host, Host]]) -> Iterator[Self]:
        """Give it for these pairs; nothing runs while nothing is measured."""
        with ExitStack() as held:
            ports = [held.enter_context(second.ports(1))[0] for _, second in hosts]
            pairs = (Pair(*two, port) for two, port in zip(hosts, ports, strict=True))
            yield cls(asked, tuple(pairs))

    def measure(self) -> MeasuredLink:
        """Delay, jitter and bandwidth; of several pairs the one that is worst off.

        Raises ``HostError`` for hosts that hear nothing of each other.
        """
        asked = self.asked
        with self.answering():
            answers = [answer for pair in self.pairs if (answer := self._delays(pair)) is not None]
            limited = asked.bandwidth_bits_s is not None
            bandwidth = self._bandwidth() if limited else None
        delays, jitters = zip(*answers, strict=True) if answers else ((), ())
        return MeasuredLink(
            delay_s=_farthest(delays, asked.delay_s),
            jitter_s=_farthest(jitters, asked.jitter_s) if asked.jitter_s else None,
            bandwidth_bits_s=bandwidth,
        )

    def flood(self) -> None:
        """Send many small datagrams: whoever counts packets learns which share is lost."""
        rate = FLOOD * FLOOD_BYTES / FLOOD_S
        if self.asked.bandwidth_bits_s is not None:
            wire = self.asked.bandwidth_bits_s / 8 * FLOOD_BYTES / (FLOOD_BYTES + HEADERS)
            rate = min(rate, wire / 2)
        count = min(FLOOD, max(1, round(rate * LONGEST_S / FLOOD_BYTES)))
        with _answering(self.pairs[0]):
            self.burst(count, FLOOD_BYTES, rate)

    def burst(
        self, count: int, size: int = FLOOD_BYTES, rate: float = FLOOD * FLOOD_BYTES / FLOOD_S
    ) -> tuple[int, float] | None:
        """Datagrams that arrived, and seconds from the first to the last; None for no answer."""
        answer = self._run(self.pairs[0], "burst", count, size, rate, self._wait_s)
        return None if answer is None else (int(answer[0]), float(answer[1]))

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Have every second host answer, which measurements of a single kind need."""
        with ExitStack() as held:
            for pair in self.pairs:
                held.enter_context(_answering(pair))
            yield

    def echoed(self, count: int, gap_s: float, number: int = 0) -> list[float]:
        """The round trips of the echoes that came back, of so many between a pair of hosts."""
        trips: list[float] = self._run(self.pairs[number], "ask", count, gap_s, self._wait_s)
        return trips

    @property
    def _sending_s(self) -> float:
        """How long an echo takes to be sent, where bandwidth is limited."""
        return ECHO_BITS / self.asked.bandwidth_bits_s if self.asked.bandwidth_bits_s else 0.0

    @property
    def _wait_s(self) -> float:
        """What comes later than that after the last one is lost."""
        return WAIT_S + 2 * (self.asked.delay_s + 4 * self.asked.jitter_s + self._sending_s)

    def _delays(self, pair: Pair) -> tuple[float, float] | None:
        """Delay each way, and its standard deviation, of what varies alike in both directions.

        None where so much is lost that no echo need come back.
        """
        gap_s = max(GAP_S, 3 * self._sending_s)
        returning = (1 - self.asked.loss_share) ** 2
        wanted = max(ECHOES / returning, JITTER_S * self.asked.jitter_s / gap_s)
        count = max(2, min(round(wanted), MOST_ECHOES, round(LONGEST_S / gap_s)))
        trips = self.echoed(count, gap_s, self.pairs.index(pair))
        if len(trips) < 2:
            if count * returning < SURE:
                return None
            raise HostError(
                f"the link: of {count} packets from {pair.asks.name} to {pair.answers.name}"
                f" {len(trips) or 'none'} came back"
            )
        delay_s = statistics.median(trips) / 2 - self._sending_s
        return max(0.0, delay_s), statistics.stdev(trips) / 2**0.5

    def _bandwidth(self) -> float | None:
        """Bits per second of what arrives while more is sent; None where nothing does."""
        asked = self.asked.bandwidth_bits_s or 0
        fitting = int(asked * BURST_S / 8 / BURST_LEAST) - HEADERS
        size = min(LARGEST, max(SMALLEST, fitting))
        bits = 8 * (size + HEADERS)
        seconds = max(BURST_S, JITTERS * self.asked.jitter_s)
        count = min(BURST_MOST, max(BURST_LEAST // 2, round(OVERFILL * asked * seconds / bits)))
        rate = OVERFILL * asked / 8 / (1 - self.asked.loss_share) * size / (size + HEADERS)
        arrived = self.burst(count, size, rate)
        if arrived is None or arrived[0] < 2 or not arrived[1]:
            return None
        return float((arrived[0] - 1) * bits / arrived[1])

    def _run(self, pair: Pair, request: str, *words: float) -> Any:  # noqa: ANN401 (as JSON has it)
        program = [pair.asks.python, "-I", "-S", str(pair.asks.copied(PROGRAM))]
        place = [pair.asks.address, pair.answers.address, str(pair.port)]
        argv = [*program, request, *place, *map(str, words)]
        done = pair.asks.run(argv, timeout_s=LIMIT_S)
        if done.returncode:
            last = done.stderr.strip().rpartition("\n")[2]
            raise HostError(f"{pair.asks.name}: {FAULT}: {last}")
        return json.loads(done.stdout)


def _farthest(values: Sequence[float], asked: float) -> float | None:
    """What differs most from what was asked for; None for nothing."""
    return max(values, key=lambda value: abs(value - asked), default=None)


def _answering(pair: Pair) -> AbstractContextManager[object]:
    """Have the second host answer."""
    host = pair.answers
    return programs.running(host, "echoes", ["answer", host.address, str(pair.port)], FAULT)
