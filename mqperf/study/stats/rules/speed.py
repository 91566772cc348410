"""The rule on the speed of cores, and whether two speeds can be compared.

Threads that share a core, and a clock rate that falls while all cores are busy, make a core slower
without anything wrong: repeats are doubted only where as much of the host was in use.
"""

from collections.abc import Iterator

from mqperf.study.stats.rules.finding import Finding, found
from mqperf.study.stats.rules.tester import hosts_used
from mqperf.study.tables import Tables

SLOWER = 0.85
"""Ratio of the speeds of two repeats below which there is a doubt; 22 points had 0.92 or more."""

UNEQUAL = 0.9
"""Ratio of the median speeds of two sets of runs below which they differ."""

ALIKE = 0.1
"""Most difference of the share of a host that is in use."""


def slower_cores(tables: Tables) -> Iterator[Finding]:
    """Runs during which the cores of a host were slower than in another repeat of their point."""
    hosts, keys = hosts_used(tables).dropna(subset=["core_speed"]), ["point", "process"]
    if hosts.empty:
        return
    hosts = hosts.assign(in_use=hosts["total_cores"] / hosts["cores"])
    hosts = hosts.merge(tables["runs"][["run", "point", "repeat"]], on="run").dropna(subset=keys)
    fastest = hosts.loc[hosts.groupby(keys)["core_speed"].idxmax()]
    pairs = hosts.merge(fastest, on=keys, suffixes=("", "_fastest"))
    alike = (pairs["in_use"] - pairs["in_use_fastest"]).abs() <= ALIKE
    ratio = pairs["core_speed"] / pairs["core_speed_fastest"]
    yield from found(
        pairs.assign(percent=100 * (1 - ratio))[alike & (ratio < SLOWER)],
        "a core of {process} was {percent:.0f} % slower than in repeat {repeat_fastest} of this"
        " point, with as much of the host in use",
        *("core_speed", "core_speed_fastest"),
    )


def unequal(speed: float, other: float) -> bool:
    """Whether two speeds are known, and differ."""
    return min(speed, other) < UNEQUAL * max(speed, other)
