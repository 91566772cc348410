"""Which runs were made on the same machine, by the facts that they record of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan

import pandas as pd

from mqperf.study.stats.rules.together import RESERVED

SAME = ("cpu_model", "cores", "network_card", "network_driver", "network_speed")
"""Columns of ``runs`` that are equal for runs of the same machine."""

NOT_STATED = "not stated"


@dataclass(slots=True)
class Machines:
    """Machines by their numbers, in the order in which they occurred."""

    known: list[tuple[Mapping[str, frozenset[object]], float]] = field(default_factory=list)

    def number(self, runs: pd.DataFrame) -> int:
        """The number of the machine of these runs, from 1.

        Runs without any of these facts count as one machine of their own.
        """
        facts = {name: frozenset(runs[name].dropna()) for name in SAME}
        memory = float(runs["memory_bytes"].astype("float64").max())
        for number, (other, had) in enumerate(self.known, 1):
            if facts == other and _alike(memory, had):
                return number
        self.known.append((facts, memory))
        return len(self.known)


def hardware(runs: pd.DataFrame) -> str:
    """The machine in words: processor, hardware threads, memory."""
    models = ", ".join(sorted(runs["cpu_model"].dropna().unique()))
    cores = ", ".join(str(count) for count in sorted(runs["cores"].dropna().unique()))
    memory = runs["memory_bytes"].max()
    parts = [
        models,
        f"{cores} hardware threads" if cores else "",
        f"{memory / 2**30:.0f} GiB" if pd.notna(memory) else "",
    ]
    return ", ".join(filter(None, parts)) or NOT_STATED


def _alike(value: float, other: float) -> bool:
    if isnan(value) or isnan(other):
        return isnan(value) and isnan(other)
    return abs(value - other) <= RESERVED * max(value, other)
