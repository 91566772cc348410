"""The packet relay: when packets leave, and which are dropped."""

import math
import random
import statistics
from typing import Any

import pytest

from mqperf_links.onhost.packet_relay import shaping
from mqperf_links.onhost.packet_relay.shaping import CorrelatedJitter, Direction

PACKET = bytes(1_000)
OUT = 7


def sent(direction: Direction, count: int, gap_s: float, packet: bytes = PACKET) -> list[float]:
    """The times at which equally spaced packets leave."""
    instants = []
    for number in range(count):
        direction.offer(number * gap_s, OUT, packet)
    while direction.due < math.inf:
        at = direction.due
        instants += [at for _ in direction.take(at)]
    return instants


def test_a_packet_leaves_after_the_delay_and_not_before() -> None:
    """Its interface and content are unchanged."""
    direction = Direction(delay_s=0.1)
    direction.offer(5.0, OUT, PACKET)
    assert direction.due == pytest.approx(5.1)
    assert list(direction.take(5.09)) == []
    assert list(direction.take(5.11)) == [(OUT, PACKET)]
    assert direction.due == math.inf
    assert (direction.came, direction.left, direction.lost) == (1, 1, 0)
    assert direction.late_s == pytest.approx(0.01)


def test_a_share_of_packets_is_lost_and_the_same_for_a_seed() -> None:
    """Lost and delivered packets add up."""
    for share in (0.01, 0.05, 0.5):
        direction, again, other = (Direction(loss_share=share, seed=seed) for seed in (1, 1, 2))
        arrivals = sent(direction, 20_000, 1e-3)
        assert direction.lost + len(arrivals) == direction.came == 20_000
        assert direction.lost == pytest.approx(20_000 * share, rel=0.15)
        assert sent(again, 20_000, 1e-3) == arrivals
        assert sent(other, 20_000, 1e-3) != arrivals


def test_bandwidth_spaces_packets_and_a_full_lane_drops_them() -> None:
    """At 8 Mbit/s 1,000 bytes take 1 ms; at most 0.1 s of packets may wait."""
    direction = Direction(delay_s=0.01, bandwidth_bits_s=8_000_000)
    arrivals = sent(direction, 50, 0.0)
    assert arrivals == pytest.approx([0.011 + number / 1000 for number in range(50)])
    direction = Direction(bandwidth_bits_s=8_000_000)
    arrivals = sent(direction, 1_000, 0.0)
    assert len(arrivals) == pytest.approx(100, abs=2)
    assert (direction.full, direction.lost) == (1_000 - len(arrivals), 0)


def test_jitter_has_the_deviation_asked_for_and_no_packet_overtakes() -> None:
    """At any packet rate; the mean is right over short times, too."""
    for gap_s in (1e-5, 1e-3, 0.02):
        count = round(min(20.0, 100_000 * gap_s) / gap_s)
        direction = Direction(delay_s=0.05, jitter_s=0.01, seed=3)
        arrivals = sent(direction, count, gap_s)
        assert arrivals == sorted(arrivals)
        delays = [at - number * gap_s for number, at in enumerate(arrivals)]
        assert statistics.fmean(delays) == pytest.approx(0.05, abs=0.003)
        if gap_s > 1e-5:  # long enough for all values of the jitter
            assert statistics.stdev(delays) == pytest.approx(0.01, rel=0.15)
        assert min(delays) > 0


def test_a_pause_does_not_disturb_the_jitter() -> None:
    """After any pause it continues within its range."""
    wander = CorrelatedJitter(0.05, 0.01, random.Random(1))
    assert 0.0 < wander.at(1e6) < 0.1
    assert abs(wander.at(1e6 + 1e-6) - wander.at(1e6)) < 1e-4


def test_a_closed_lane_swallows_what_comes_and_what_is_on_its_way() -> None:
    """After it opens again, packets pass normally."""
    direction = Direction(delay_s=0.1)
    direction.offer(0.0, OUT, PACKET)
    direction.close()
    direction.offer(0.05, OUT, PACKET)
    assert direction.due == math.inf
    direction.open()
    direction.offer(0.2, OUT, PACKET)
    assert list(direction.take(1.0)) == [(OUT, PACKET)]
    assert (direction.came, direction.swallowed, direction.lost, direction.left) == (3, 2, 0, 1)


def test_a_lane_that_opens_again_is_free() -> None:
    """Packets dropped by closing take no bandwidth from later ones."""
    direction = Direction(bandwidth_bits_s=8 * len(PACKET))
    for _ in range(5):
        direction.offer(0.0, OUT, PACKET)
    direction.close()
    direction.open()
    direction.offer(0.5, OUT, PACKET)
    assert direction.due == pytest.approx(1.5)


def test_what_is_on_its_way_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delayed packets take limited memory."""
    monkeypatch.setattr(shaping, "HELD_BYTES", 10_000)
    direction = Direction(delay_s=60.0)
    assert len(sent(direction, 30, 0.0)) == 10
    assert direction.full == 20
    direction.offer(100.0, OUT, PACKET)
    assert direction.due == pytest.approx(160.0)


def test_an_impaired_lane_treats_packets_otherwise_and_then_as_before() -> None:
    """Order is kept, and packets of the impairment are counted separately."""
    direction = Direction(delay_s=0.1)
    direction.offer(0.0, OUT, PACKET)
    direction.impair(delay_s=0.5)
    direction.offer(0.01, OUT, PACKET)
    direction.impair(loss_share=0.999999)
    direction.offer(0.02, OUT, PACKET)
    direction.repair(0.02)
    direction.offer(0.03, OUT, PACKET)
    leaving = []
    while direction.due < math.inf:
        at = direction.due
        leaving += [at for _ in direction.take(at)]
    assert leaving == pytest.approx([0.1, 0.51, 0.51])
    assert (direction.came, direction.lost, direction.impaired, direction.left) == (2, 0, 2, 3)


def repaired(direction: Direction) -> Direction:
    """A lane at 5 s: of packets from its slow time one is on the wire, three wait."""
    direction.impair(delay_s=1.0, bandwidth_bits_s=8 * len(PACKET))
    for _ in range(6):
        direction.offer(2.0, OUT, PACKET)
    assert [*direction.take(4.0)] == [(OUT, PACKET)]
    assert len([*direction.take(5.0)]) == 1
    direction.repair(5.0)
    return direction


@pytest.mark.parametrize(
    ("planned", "leave"),
    [
        ({}, [6.0] * 5),
        ({"delay_s": 2.0}, [6.0, *[7.0] * 4]),
        ({"delay_s": 2.0, "bandwidth_bits_s": 80.0 * len(PACKET)}, [6.0, 7.1, 7.2, 7.3, 7.4]),
        ({"bandwidth_bits_s": 0.8 * len(PACKET)}, [6.0, 6.0, 7.0, 8.0, 18.0]),
    ],
    ids=["without a limit", "with a delay", "with a rate", "slower"],
)
def test_a_repaired_lane_is_as_fast_as_before_at_once(
    planned: dict[str, Any], leave: list[float]
) -> None:
    """Waiting packets are sent at the planned rate; packets on the wire arrive as scheduled.

    No packet is later than without the repair.
    """
    direction = repaired(Direction(**planned))
    direction.offer(5.0, OUT, PACKET)
    leaving = []
    while direction.due < math.inf:
        at = direction.due
        leaving += [at for _ in direction.take(at)]
    assert leaving == pytest.approx(leave)
    assert (direction.came, direction.impaired, direction.left, direction.full) == (1, 6, 7, 0)
