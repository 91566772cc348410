"""Repairs that oslo.messaging's driver for AMQP 1.0 needs."""

import time
import warnings
from types import ModuleType


def amqp_expiry(_simulator: ModuleType) -> None:
    """Count the expiry of AMQP 1.0 messages from 1970, as the protocol requires.

    The driver counts it from the machine's start (``time.monotonic``), so brokers consider every
    CALL as expired long ago, and drop it.
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
