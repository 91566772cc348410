"""Measurement of a link by datagrams between hosts at its ends; not during a measured window."""

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
"""Number of echoes, and the time between them; there are more where the link loses or varies."""

MOST_ECHOES = 2_000
SURE = 20
"""The link is down if no echo returns where at least so many are expected."""

LONGEST_S = 5.0
JITTER_S = 160.0
"""Where the delay varies, echoes are sent for so many times its jitter, at most ``LONGEST_S``."""

ECHO_BITS = 8 * (28 + 25)
"""Bits of an echo on the wire, with the headers of UDP and IP."""

BURST_S, BURST_LEAST, BURST_MOST = 0.4, 40, 12_000
"""Duration of a burst that fills a limited link; least and largest number of its datagrams."""

OVERFILL = 1.5
"""A burst has so many times the link's rate, so that a delayed sender leaves no gap."""

JITTERS = 100
"""A burst lasts at least so many times the jitter, which shifts its first and last datagram."""

SMALLEST, LARGEST = 25, 1_400
"""Least and largest size of a datagram, in bytes."""

HEADERS = 28
FLOOD, FLOOD_BYTES, FLOOD_S = 10_000, 40, 0.5
"""Datagrams to measure loss: so many give a share within 1.5 % at three standard errors."""

WAIT_S = 0.5
LIMIT_S = 120.0
FAULT = "the link cannot be measured"


@dataclass(frozen=True, slots=True)
class Pair:
    """A host of each end, and the port on which the second one answers."""

    client: Host
    server: Host
    port: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Pairs of hosts that exchange datagrams over the link; ``link`` is as the plan has it."""

    link: LinkPoint
    pairs: tuple[Pair, ...]

    @classmethod
    @contextmanager
    def between(cls, link: LinkPoint, hosts: Sequence[tuple[Host, Host]]) -> Iterator[Self]:
        """Yield a calibration with these pairs; nothing runs except during a measurement."""
        with ExitStack() as reserved:
            ports = [reserved.enter_context(second.ports(1))[0] for _, second in hosts]
            pairs = (Pair(*two, port) for two, port in zip(hosts, ports, strict=True))
            yield cls(link, tuple(pairs))

    def measure(self) -> MeasuredLink:
        """Measure delay, jitter and bandwidth; of several pairs, the farthest from the plan counts.

        Raise ``HostError`` for hosts that cannot reach each other.
        """
        link = self.link
        with self.answering():
            results = [result for pair in self.pairs if (result := self._delays(pair)) is not None]
            limited = link.bandwidth_bits_s is not None
            bandwidth = self._bandwidth() if limited else None
        delays, jitters = zip(*results, strict=True) if results else ((), ())
        return MeasuredLink(
            delay_s=_farthest(delays, link.delay_s),
            jitter_s=_farthest(jitters, link.jitter_s) if link.jitter_s else None,
            bandwidth_bits_s=bandwidth,
        )

    def flood(self) -> None:
        """Send many small datagrams, so that a counter of packets can tell the lost share."""
        rate = FLOOD * FLOOD_BYTES / FLOOD_S
        if self.link.bandwidth_bits_s is not None:
            wire = self.link.bandwidth_bits_s / 8 * FLOOD_BYTES / (FLOOD_BYTES + HEADERS)
            rate = min(rate, wire / 2)
        count = min(FLOOD, max(1, round(rate * LONGEST_S / FLOOD_BYTES)))
        with _answering(self.pairs[0]):
            self.burst(count, FLOOD_BYTES, rate)

    def burst(
        self, count: int, size: int = FLOOD_BYTES, rate: float = FLOOD * FLOOD_BYTES / FLOOD_S
    ) -> tuple[int, float] | None:
        """Send datagrams; return how many arrived and in how many seconds, None for no answer."""
        answer = self._run(self.pairs[0], "burst", count, size, rate, self._wait_s)
        return None if answer is None else (int(answer[0]), float(answer[1]))

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Run the answering program on every second host, for ``echoed`` and ``burst``."""
        with ExitStack() as running:
            for pair in self.pairs:
                running.enter_context(_answering(pair))
            yield

    def echoed(self, count: int, gap_s: float, number: int = 0) -> list[float]:
        """Send echoes between a pair of hosts; return the round trips of those that came back."""
        trips: list[float] = self._run(self.pairs[number], "ask", count, gap_s, self._wait_s)
        return trips

    @property
    def _sending_s(self) -> float:
        """Transmission time of an echo, where bandwidth is limited."""
        return ECHO_BITS / self.link.bandwidth_bits_s if self.link.bandwidth_bits_s else 0.0

    @property
    def _wait_s(self) -> float:
        """A datagram that has not come so long after the last was sent is lost."""
        return WAIT_S + 2 * (self.link.delay_s + 4 * self.link.jitter_s + self._sending_s)

    def _delays(self, pair: Pair) -> tuple[float, float] | None:
        """Return one-way delay and jitter, taking both directions as alike.

        Return None where losses are so high that possibly no echo comes back.
        """
        gap_s = max(GAP_S, 3 * self._sending_s)
        returning = (1 - self.link.loss_share) ** 2
        echoes = max(ECHOES / returning, JITTER_S * self.link.jitter_s / gap_s)
        count = max(2, min(round(echoes), MOST_ECHOES, round(LONGEST_S / gap_s)))
        trips = self.echoed(count, gap_s, self.pairs.index(pair))
        if len(trips) < 2:
            if count * returning < SURE:
                return None
            raise HostError(
                f"the link: of {count} packets from {pair.client.name} to {pair.server.name}"
                f" {len(trips) or 'none'} came back"
            )
        delay_s = statistics.median(trips) / 2 - self._sending_s
        return max(0.0, delay_s), statistics.stdev(trips) / 2**0.5

    def _bandwidth(self) -> float | None:
        """Return the bits per second that arrive while more is sent; None where nothing does."""
        limit = self.link.bandwidth_bits_s or 0
        fitting = int(limit * BURST_S / 8 / BURST_LEAST) - HEADERS
        size = min(LARGEST, max(SMALLEST, fitting))
        bits = 8 * (size + HEADERS)
        seconds = max(BURST_S, JITTERS * self.link.jitter_s)
        count = min(BURST_MOST, max(BURST_LEAST // 2, round(OVERFILL * limit * seconds / bits)))
        rate = OVERFILL * limit / 8 / (1 - self.link.loss_share) * size / (size + HEADERS)
        arrived = self.burst(count, size, rate)
        if arrived is None or arrived[0] < 2 or not arrived[1]:
            return None
        return float((arrived[0] - 1) * bits / arrived[1])

    def _run(self, pair: Pair, request: str, *values: float) -> Any:  # noqa: ANN401 (JSON)
        program = [pair.client.python, "-I", "-S", str(pair.client.copied(PROGRAM))]
        addresses = [pair.client.address, pair.server.address, str(pair.port)]
        argv = [*program, request, *addresses, *map(str, values)]
        result = pair.client.run(argv, timeout_s=LIMIT_S)
        if result.returncode:
            last = result.stderr.strip().rpartition("\n")[2]
            raise HostError(f"{pair.client.name}: {FAULT}: {last}")
        return json.loads(result.stdout)


def _farthest(values: Sequence[float], planned: float) -> float | None:
    """Return the value that differs most from the planned one; None without values."""
    return max(values, key=lambda value: abs(value - planned), default=None)


def _answering(pair: Pair) -> AbstractContextManager[object]:
    """Run the answering program on the second host."""
    host = pair.server
    return programs.running(host, "echoes", ["answer", host.address, str(pair.port)], FAULT)
