"""What servers record from the stamps of messages, of their own run and of other runs."""

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


def test_messages_later_than_limits_are_counted() -> None:
    """Each limit has its own count; a message of another run counts as taking no time."""
    server = arrivals(paced=False, limits_s=(1.5, 2.5))
    server.take(stamped(RUN, RUN), np.array([2, 2]), NOW)
    server.take(stamped(RUN, 9), np.array([2, 2]), NOW + 1)
    assert server.late == [3, 1]


def test_numbers_skipped_by_later_ones_are_missing() -> None:
    """A number that later ones have overtaken is missing until its message arrives."""
    server = arrivals(paced=False)
    numbers = {"first": [0, 1], "later": [4, 5], "late": [2]}
    missing = []
    for arrived in numbers.values():
        messages = stamped(*[RUN] * len(arrived))
        messages["number"] = arrived
        server.take(messages, np.full(len(arrived), 2), NOW)
        missing.append(server.missing)
    assert missing == [0, 2, 1]


def test_strangers_before_the_start_take_no_room() -> None:
    """Before the start is known, they do not allocate seconds up to the current time."""
    server, number = arrivals(paced=True), 500
    server.record.tally.start = 0.0
    for _ in range(10):
        due = server.take(stamped(*[9] * number), np.zeros(number, np.int64), NOW)
        assert due.tolist() == [NOW] * number
    server.record.tally.start = START
    assert (server.received, server.strangers, server.missing) == (2000, 2000, 0)
    assert server.record.tally.streams["received"].total == 2000


def recorded(server: Arrivals, stream: str) -> list[tuple[int, int, float, float]]:
    """Place, number, begin and end of what is not counted yet, instants since the start."""
    gathered = server.record.streams[stream]
    filled = slice(0, gathered.length)
    begun, ended = (instants[filled] - START for instants in (gathered.started, gathered.finished))
    return list(zip(gathered.sender[filled], gathered.number[filled], begun, ended, strict=True))


@pytest.mark.parametrize("now", [NOW, np.full(2, NOW)])
def test_messages_belong_to_their_senders(now: float | np.ndarray) -> None:
    """They have the number and instants of the stamp, and the place given by the server."""
    server = arrivals(paced=True)
    due = server.take(stamped(RUN, RUN), np.array([20, 21]), now)
    assert due.tolist() == [START + 1] * 2
    assert recorded(server, "received") == [(20, 40, 1, 3), (21, 41, 1, 3)]
    assert recorded(server, "service") == [(20, 40, 2, 3), (21, 41, 2, 3)]
    assert (server.received, server.strangers) == (2, 0)


@pytest.mark.parametrize("now", [NOW, np.full(3, NOW)])
def test_messages_of_another_run_belong_to_a_stranger(now: float | np.ndarray) -> None:
    """They are numbered in order of arrival and have no latency; other messages are unaffected."""
    server = arrivals(paced=True)
    for first in (0, 2):
        due = server.take(stamped(RUN + 1, RUN, 0), np.array([20, 21, 22]), now)
        assert due.tolist() == [NOW, START + 1, NOW]
        assert recorded(server, "received")[-3:] == [
            (-1, first, 3, 3),
            (21, 41, 1, 3),
            (-1, first + 1, 3, 3),
        ]
        assert recorded(server, "service")[-3:] == [
            (-1, first, 3, 3),
            (21, 41, 2, 3),
            (-1, first + 1, 3, 3),
        ]
    assert (server.received, server.strangers) == (6, 4)
    assert (server.record.name(STRANGER), server.record.name(0)) == ("stranger", "client-0")


def test_messages_are_counted_once_without_a_schedule() -> None:
    """Without due times there is no separate stream of service times."""
    server = arrivals(paced=False)
    server.take(stamped(RUN), np.array([0]), NOW)
    assert recorded(server, "received") == [(0, 40, 1, 3)]
    assert [*server.record.streams] == ["received"]
