"""Repairs that a release of the simulator or its driver needs on a current Python, by name.

A release lists those that it needs, as ``module:function``; nothing is repaired unasked.  One with
a parameter repairs the loaded simulator, one without repairs what the simulator imports.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any


def prepare(names: Sequence[str]) -> None:
    """Apply those of the named repairs without which the simulator cannot be imported."""
    for function in _functions(names, parameters=0):
        function()


def repair(simulator: ModuleType, names: Sequence[str]) -> None:
    """Apply the other named repairs to the loaded simulator, in order."""
    for function in _functions(names, parameters=1):
        function(simulator)


def _functions(names: Sequence[str], parameters: int) -> Iterator[Callable[..., Any]]:
    for module, _, name in (name.partition(":") for name in names):
        function = getattr(import_module(module), name)
        if len(signature(function).parameters) == parameters:
            yield function


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
