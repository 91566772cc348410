"""Who was the bottleneck: a verdict for each run, with its evidence, from CPU alone.

The network has no verdict of its own: no probe watches it.  Where everybody has CPU left, the limit
is elsewhere: the network, a lock, one thread inside the broker, or the clients' own waiting.
"""

from dataclasses import dataclass

import pandas as pd

from mqperf.columns import TABLES
from mqperf.stats.rules.cpu import HOST_FULL, busy_testers, foreign, full_hosts, with_cores
from mqperf.stats.rules.finding import each, measured
from mqperf.tables import Tables, conform

BROKER_FULL = 0.9
"""Share of its host's cores from which on a broker node counts as out of CPU."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who limited a run, and the figures that show it."""

    verdict: str
    because: str


def bottlenecks(tables: Tables) -> pd.DataFrame:
    """One row per measured run: its keys, ``bottleneck`` and ``because``.

    ``cannot tell`` where CPU of brokers and of load generators was not both recorded.
    """
    found = measured(tables)
    runs = found[[name for name in TABLES["bottlenecks"].columns if name in found.columns]]
    cpu = dict(list(with_cores(tables).groupby("run")))
    verdicts = [_verdict(cpu.get(run)) for run in runs["run"]]
    return conform(
        "bottlenecks",
        runs.assign(
            bottleneck=[one.verdict for one in verdicts],
            because=[one.because for one in verdicts],
        ),
    )


def _verdict(rows: pd.DataFrame | None) -> Verdict:
    if rows is None:
        return Verdict("cannot tell", "no CPU was recorded over the window")
    if busy := busy_testers(rows):
        return Verdict("tester", f"of one core that each can use: {_listed(busy)}")
    nodes = rows[rows["kind"] == "broker"]
    full = nodes[nodes["total_cores"] >= BROKER_FULL * nodes["cores"]]
    if len(full):
        names = ", ".join(full["process"])
        return Verdict(f"broker: {names}", f"of {full['cores'].iloc[0]} cores: {_cores(full)}")
    if hosts := full_hosts(rows):
        own = _cores(rows[rows["kind"].isin(["broker", "client", "server"])])
        return Verdict(
            "host",
            f"the load generators' host was full ({_listed(hosts)}): {own};"
            f" others {foreign(rows):.2f} cores",
        )
    return _rest(rows, nodes)


def _rest(rows: pd.DataFrame, nodes: pd.DataFrame) -> Verdict:
    testers = rows[rows["kind"].isin(["client", "server"])]
    if testers.empty or rows["cores"].isna().any():
        unknown = "load generators" if testers.empty else "the number of cores"
        return Verdict("cannot tell", f"{unknown} not recorded; brokers: {_cores(nodes)}")
    used = _cores(pd.concat([nodes, testers]))
    return Verdict("none", f"no process out of CPU, no host above {HOST_FULL:.0%}: {used}")


def _cores(rows: pd.DataFrame) -> str:
    known = rows.dropna(subset=["total_cores"])
    used = {str(row.process): float(row.total_cores) for row in each(known)}
    return _listed(used) if used else "nothing known"


def _listed(used: dict[str, float]) -> str:
    return ", ".join(f"{name} {cores:.2f} cores" for name, cores in used.items())
