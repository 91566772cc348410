"""Repairs that a release of the simulator or its driver needs on a current Python, by name.

A release lists its repairs in mqperf's table of environments; nothing is repaired unasked.
"""

import collections
import collections.abc
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
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

    Every transport passes it since 6.3, this driver never learnt it: each CALL and CAST would be a
    ``TypeError``.
    """
    from oslo_messaging._drivers.impl_zmq import ZmqDriver

    send = ZmqDriver.send

    def patient_send(
        driver: object, *arguments: object, call_monitor_timeout: object = None, **named: object
    ) -> object:
        del call_monitor_timeout
        return send(driver, *arguments, **named)

    ZmqDriver.send = patient_send


def whole_topic(simulator: ModuleType) -> None:
    """Hand the notifier its topic in a list.

    The simulator passes the bare string, of which each character would be taken for a topic: the
    client sends happily, and the server receives nothing.
    """
    spawn = simulator.spawn_notify_clients

    def spawn_with_list(threads: int, topic: str, *rest: object, **named: object) -> None:
        spawn(threads, [topic], *rest, **named)

    vars(simulator)["spawn_notify_clients"] = spawn_with_list


def amqp_expiry(_simulator: ModuleType) -> None:
    """Count the expiry of AMQP 1.0 messages from 1970, as the protocol has it.

    The driver counts it from the machine's start (``time.monotonic``), so brokers take every CALL
    for one that expired long ago, and drop it.
    """
    import proton

    expiry = proton.Message.expiry_time

    def set_expiry(message: object, monotonic: float) -> None:
        expiry.fset(message, monotonic - time.monotonic() + time.time())

    proton.Message.expiry_time = property(expiry.fget, set_expiry)


def amqp_warnings(_simulator: ModuleType) -> None:
    """Import the AMQP 1.0 driver without the filter of warnings which it sets for all of Python.

    Several warnings for each message would fill the log, whatever ``-W`` says.
    """
    with warnings.catch_warnings():
        import oslo_messaging._drivers.impl_amqp1  # noqa: F401


def amqp_first_host(_simulator: ModuleType) -> None:
    """Have the AMQP 1.0 driver begin with the first host of its URL, not with a random one.

    The others are backups which do not listen yet: trying them first costs seconds of every run.
    """
    from oslo_messaging._drivers.amqp1_driver.controller import Hosts

    init = Hosts.__init__

    def init_with_first(hosts: object, *arguments: object, **named: object) -> None:
        init(hosts, *arguments, **named)
        vars(hosts)["_current"] = 0

    Hosts.__init__ = init_with_first


def queue_manager_place(_simulator: ModuleType) -> None:
    """Have the queue manager count in the folder of its lock, which ends with the run.

    The driver keeps the file in ``/dev/shm`` for ever.
    """
    from oslo_messaging._drivers.amqpdriver import QManager

    init = QManager.__init__

    def init_in_folder(manager: object, *arguments: object, **named: object) -> None:
        init(manager, *arguments, **named)
        file = Path(vars(manager)["file_name"])
        vars(manager)["file_name"] = str(Path(os.environ["OSLO_LOCK_PATH"], file.name))

    QManager.__init__ = init_in_folder


BEFORE: dict[str, Callable[[], None]] = {"abstract-collections": abstract_collections}
AFTER: dict[str, Callable[[ModuleType], None]] = {
    "zmq-call-monitor": zmq_call_monitor,
    "whole-topic": whole_topic,
    "amqp-expiry": amqp_expiry,
    "amqp-warnings": amqp_warnings,
    "amqp-first-host": amqp_first_host,
    "queue-manager-place": queue_manager_place,
}


def prepare(names: list[str]) -> None:
    """Apply those of the named repairs without which the simulator cannot be imported."""
    for name in names:
        if name in BEFORE:
            BEFORE[name]()


def repair(simulator: ModuleType, names: list[str]) -> None:
    """Apply the other named repairs to the loaded simulator, in order."""
    for name in names:
        if name in AFTER:
            AFTER[name](simulator)
        elif name not in BEFORE:
            known = ", ".join([*BEFORE, *AFTER])
            raise SystemExit(f"there is no repair {name!r}; known: {known}")
