"""What servers record of messages by their stamps, their own and those of strangers."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.orders import Pace, ThreadOrders, of_kind
from mqperf_numbered.onhost.record import STRANGER, Record
from mqperf_numbered.onhost.tally import Tally

RUN = 7
START = 1_700_000_000
NOW = START + 3.0


def stamped(*runs: int) -> stamps.Stamps:
    """Messages of these runs, of sender 2: due after one second, sent after two."""
    messages = np.zeros(len(runs), stamps.STAMP)
    messages["run"], messages["sender"], messages["number"] = runs, 2, 40 + np.arange(len(runs))
    messages["due_ns"], messages["sent_ns"] = (START + 1) * 10**9, (START + 2) * 10**9
    return messages


def arrivals(*, paced: bool, limits_s: tuple[float, ...] = ()) -> Arrivals:
    streams = ["received", "service"] if paced else ["received"]
    tally = Tally("server-1", "server", "publish", START, streams)
    values: dict[str, Any] = {"run": RUN, "pace": Pace(1.0) if paced else None}
    unused = dict.fromkeys(field.name for field in fields(ThreadOrders))
    orders = of_kind(ThreadOrders, unused | values | {"limits_s": limits_s})
    return Arrivals(Record(tally, "client-{}".format), orders)


def test_what_took_longer_than_limits_is_counted() -> None:
    """Of each limit by itself, over all that have come; a stranger took no time."""
    of = arrivals(paced=False, limits_s=(1.5, 2.5))
    of.take(stamped(RUN, RUN), np.array([2, 2]), NOW)
    of.take(stamped(RUN, 9), np.array([2, 2]), NOW + 1)
    assert of.late == [3, 1]


def test_what_has_not_come_though_later_ones_have_is_missing() -> None:
    """Whether it is counted yet or not; what comes late is missing no more."""
    of = arrivals(paced=False)
    numbers = {"first": [0, 1], "later": [4, 5], "late": [2]}
    missing = []
    for arrived in numbers.values():
        messages = stamped(*[RUN] * len(arrived))
        messages["number"] = arrived
        of.take(messages, np.full(len(arrived), 2), NOW)
        missing.append(of.missing)
    assert missing == [0, 2, 1]


def test_strangers_before_the_start_take_no_room() -> None:
    """However many: seconds are counted from the start, which is not known yet."""
    of, number = arrivals(paced=True), 500
    of.record.tally.start = 0.0
    for _ in range(10):
        due = of.take(stamped(*[9] * number), np.zeros(number, np.int64), NOW)
        assert due.tolist() == [NOW] * number
    of.record.tally.start = START
    assert (of.received, of.strangers, of.missing) == (2000, 2000, 0)
    assert of.record.tally.streams["received"].total == 2000


def recorded(of: Arrivals, stream: str) -> list[tuple[int, int, float, float]]:
    """Place, number, begin and end of what is not counted yet, instants since the start."""
    gathered = of.record.streams[stream]
    filled = slice(0, gathered.length)
    begun, ended = (instants[filled] - START for instants in (gathered.started, gathered.finished))
    return list(zip(gathered.sender[filled], gathered.number[filled], begun, ended, strict=True))


@pytest.mark.parametrize("now", [NOW, np.full(2, NOW)])
def test_messages_are_their_senders(now: float | np.ndarray) -> None:
    """With the number and the instants of the stamp, and the place that a server gives them."""
    of = arrivals(paced=True)
    due = of.take(stamped(RUN, RUN), np.array([20, 21]), now)
    assert due.tolist() == [START + 1] * 2
    assert recorded(of, "received") == [(20, 40, 1, 3), (21, 41, 1, 3)]
    assert recorded(of, "service") == [(20, 40, 2, 3), (21, 41, 2, 3)]
    assert (of.received, of.strangers) == (2, 0)


@pytest.mark.parametrize("now", [NOW, np.full(3, NOW)])
def test_messages_of_another_run_are_a_strangers(now: float | np.ndarray) -> None:
    """Numbered as they come, over all calls, and neither late nor slow; the rest is as ever."""
    of = arrivals(paced=True)
    for first in (0, 2):
        due = of.take(stamped(RUN + 1, RUN, 0), np.array([20, 21, 22]), now)
        assert due.tolist() == [NOW, START + 1, NOW]
        assert recorded(of, "received")[-3:] == [
            (-1, first, 3, 3),
            (21, 41, 1, 3),
            (-1, first + 1, 3, 3),
        ]
        assert recorded(of, "service")[-3:] == [
            (-1, first, 3, 3),
            (21, 41, 2, 3),
            (-1, first + 1, 3, 3),
        ]
    assert (of.received, of.strangers) == (6, 4)
    assert (of.record.name(STRANGER), of.record.name(0)) == ("stranger", "client-0")


def test_what_came_is_counted_once_without_a_schedule() -> None:
    """There is nothing that could be told from the time since they were due."""
    of = arrivals(paced=False)
    of.take(stamped(RUN), np.array([0]), NOW)
    assert recorded(of, "received") == [(0, 40, 1, 3)]
    assert [*of.record.streams] == ["received"]
