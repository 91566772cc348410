"""A client of a replay: a thread for each route, which sends the profile's counts and lengths."""

from mqperf.onhost.load.control import Control
from mqperf_amqp_0_9_1.onhost.publisher import Publisher
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.schedule import Schedule
from mqperf_traffic.onhost.curve import curve_of, phase_of
from mqperf_traffic.onhost.orders import Orders


def replayer(orders: Orders, control: Control, record: Record, diary: Diary) -> Publisher:
    """Return the publisher of a process's routes; messages count once for each of their queues."""
    client, tenths = Publisher(orders, control, record, diary), orders.tenths
    for publisher, route in zip(client.publishers, orders.routes, strict=True):
        thread, lengths = publisher.thread, route["lengths"]
        curve = curve_of(route["per_second"], tenths, speed=orders.speed, scale=orders.scale)
        publisher.schedule = Schedule(curve, phase_of(thread.number, orders.all_routes))
        total = sum(count for _, count in lengths)
        publisher.mix = [(count / total, length) for length, count in lengths]
        first = thread.number * orders.copies
        publisher.places = range(first, first + len(thread.queues))
    return client
