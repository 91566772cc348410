"""A client of a replay: a thread for each route, whose seconds and lengths are the profile's."""

from mqperf.onhost.load.control import Control
from mqperf_amqp_0_9_1.onhost.orders import Thread
from mqperf_amqp_0_9_1.onhost.publisher import Publisher
from mqperf_amqp_0_9_1.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.schedule import Schedule
from mqperf_traffic.onhost.curve import curve_of, phase_of
from mqperf_traffic.onhost.orders import Orders


def replayer(orders: Orders, control: Control, record: Record, diary: Diary) -> Publisher:
    """All routes of a process."""
    routes = [_route(orders, thread, record) for thread in orders.threads]
    return Publisher(orders, control, record, diary, routes)


def _route(orders: Orders, thread: Thread, record: Record) -> PublisherThread:
    """The thread of a route: its messages count once for each queue that they go to."""
    publisher, route = PublisherThread(orders, thread, record), orders.route(thread)
    curve = curve_of(route.per_second, orders.tenths, speed=orders.speed, scale=orders.scale)
    publisher.schedule = Schedule(curve, phase_of(thread.number, orders.all_routes))
    total = sum(count for _, count in route.lengths)
    publisher.mix = [(count / total, length) for length, count in route.lengths]
    first = thread.number * orders.copies
    publisher.places = range(first, first + len(thread.queues))
    return publisher
