"""Repairs that a release of the simulator or its driver needs on a current Python, by name.

A release lists the ones that it needs, as ``module:function``; no others are applied.  A function
with a parameter repairs the loaded simulator, one without repairs what the simulator imports.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any


def prepare(names: Sequence[str]) -> None:
    """Apply the named repairs without which the simulator cannot be imported."""
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


def queue_manager_place(_simulator: ModuleType) -> None:
    """Move the queue manager's counter file to the folder of its lock, removed after the run.

    The driver would leave the file in ``/dev/shm`` for ever.
    """
    from oslo_messaging._drivers.amqpdriver import QManager

    init = QManager.__init__

    def init_in_folder(manager: object, *arguments: object, **named: object) -> None:
        init(manager, *arguments, **named)
        file = Path(vars(manager)["file_name"])
        vars(manager)["file_name"] = str(Path(os.environ["OSLO_LOCK_PATH"], file.name))

    QManager.__init__ = init_in_folder
