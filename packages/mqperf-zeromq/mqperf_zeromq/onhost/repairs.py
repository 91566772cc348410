"""Repairs that oslo.messaging 8, and its driver for ZeroMQ, need on a current Python."""

import collections
import collections.abc
from types import ModuleType


def abstract_collections() -> None:
    """Give ``collections`` back the abstract classes which Python 3.10 left in ``collections.abc``.

    Without them oslo.messaging 8 cannot be imported.
    """
    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))


def zmq_call_monitor(_simulator: ModuleType) -> None:
    """Let the ZeroMQ driver's ``send`` accept ``call_monitor_timeout``, and ignore it.

    Every transport passes it since 6.3, but this driver does not support it: each CALL and CAST
    would raise ``TypeError``.
    """
    from oslo_messaging._drivers.impl_zmq import ZmqDriver

    send = ZmqDriver.send

    def send_without_monitor(
        driver: object, *arguments: object, call_monitor_timeout: object = None, **named: object
    ) -> object:
        del call_monitor_timeout
        return send(driver, *arguments, **named)

    ZmqDriver.send = send_without_monitor


def whole_topic(simulator: ModuleType) -> None:
    """Pass the notifier its topic in a list.

    The simulator passes the bare string, each character of which would be taken for a topic: the
    client would send without error, and the server would receive nothing.
    """
    spawn = simulator.spawn_notify_clients

    def spawn_with_list(threads: int, topic: str, *rest: object, **named: object) -> None:
        spawn(threads, [topic], *rest, **named)

    vars(simulator)["spawn_notify_clients"] = spawn_with_list
