"""Repairs that a release of the simulator or its driver needs on a current Python, by name.

A release lists its repairs in mqperf's table of environments; nothing is repaired unasked.
"""

from collections.abc import Callable
from types import ModuleType

REPAIRS: dict[str, Callable[[ModuleType], None]] = {}


def repair(simulator: ModuleType, names: list[str]) -> None:
    """Apply the named repairs to the loaded simulator, in order."""
    for name in names:
        if name not in REPAIRS:
            known = ", ".join(REPAIRS) or "none"
            raise SystemExit(f"there is no repair {name!r}; known: {known}")
        REPAIRS[name](simulator)
