"""The bottleneck of each run, with the evidence for it, from CPU and network.

The network is the limit when a link is full, or when it loses so much that TCP holds back: what a
connection can carry falls with the root of its losses (M. Mathis and others, The Macroscopic
Behavior of the TCP Congestion Avoidance Algorithm, 1997).  Where CPU and network are left, the
limit is elsewhere: a lock, one thread inside the broker, or the clients' own waiting.
"""

from collections.abc import Callable, Sequence

import pandas as pd

from mqperf.plan.columns import TABLES
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.stats.rules.finding import each, measured
from mqperf.study.stats.rules.stairs import used_cpu
from mqperf.study.stats.rules.tester import HOST_FULL, busy_testers, hosts_used, listed
from mqperf.study.tables import Tables, conform

BROKER_FULL = 0.9
"""Share of its host's cores from which on a broker node counts as out of CPU."""

LINK_FULL = 0.9
"""Share of its speed, in one direction, from which on a link counts as full: headers of the link
itself and gaps between frames are not counted in the bytes."""

LOSSY = 0.01
"""Share of TCP segments retransmitted from which on the network counts as the limit."""


CPU_COLUMNS = ("process", "kind", "total_cores", "cores")
HOST_COLUMNS = ("process", "total_cores", "full", "tests", "others")
"""Columns on which a verdict depends, beside those of ``network``."""


Verdict = tuple[str, str]
"""The bottleneck of a run, and the figures that show it, in words."""

NONE = "none"
"""The bottleneck where nothing ran out."""

LOAD_GENERATORS = "tester"
"""The bottleneck where load generators, and not the system, had no CPU left."""


def bottlenecks(tables: Tables) -> pd.DataFrame:
    """One row per measured run: its keys, ``bottleneck`` and ``because``.

    ``cannot tell`` where CPU of brokers and of load generators was not both recorded.  A link
    without a known speed, as loopback, is never full.
    """
    frame = measured(tables)
    runs = frame[[name for name in TABLES["bottlenecks"].columns if name in frame.columns]]
    used = used_cpu(tables)
    cpu, busy = _by_run(used, CPU_COLUMNS), _by_run(busy_testers(used, frame), CPU_COLUMNS)
    hosts = _by_run(hosts_used(tables), HOST_COLUMNS)
    links = _by_run(tables["network"], [*tables["network"]])
    verdicts = [_verdict(cpu(run), busy(run), hosts(run), links(run)) for run in runs["run"]]
    verdict_table = pd.DataFrame(verdicts, runs.index, ["bottleneck", "because"])
    return conform("bottlenecks", runs.join(verdict_table))


def _by_run(frame: pd.DataFrame, columns: Sequence[str]) -> Callable[[str], pd.DataFrame]:
    """Return a function that gives these columns of the rows of a run."""
    positions, rows = frame.groupby("run").indices, frame[[*columns]]
    return lambda run: rows.iloc[positions.get(run, [])]


def _verdict(
    rows: pd.DataFrame, busy: pd.DataFrame, hosts: pd.DataFrame, links: pd.DataFrame
) -> Verdict:
    if rows.empty:
        return CANNOT_TELL, "no CPU was recorded over the window"
    if len(busy):
        return LOAD_GENERATORS, f"a Python process runs on about one core: {_cores_text(busy)}"
    nodes = rows[rows["kind"] == "broker"]
    if len(full := full_nodes(nodes)):
        names = ", ".join(full["process"])
        by_size = full.groupby("cores", sort=False)
        used = "; ".join(f"of {cores} cores: {_cores_text(rows)}" for cores, rows in by_size)
        return f"broker: {names}", used
    if len(full := hosts[hosts["full"]]):
        used = _cores_text(rows[rows["kind"].isin(["broker", "client", "server", "background"])])
        whose = "the load generators'" if full["tests"].any() else "the brokers'"
        reason = f"{whose} host was full ({_cores_text(full)}): {used};"
        return "host", f"{reason} others {full['others'].sum():.2f} cores"
    if reason := network_limit(links):
        return "network", reason
    return _without_limit(rows, nodes, links)


def agreed(verdicts: pd.Series) -> str | None:
    """The bottleneck on which all runs agree; None where they do not, or it is not known."""
    limits = [*verdicts.dropna().unique()]
    return limits[0] if len(limits) == 1 and limits[0] not in {CANNOT_TELL, NONE} else None


def full_nodes(nodes: pd.DataFrame) -> pd.DataFrame:
    """The rows of nodes that used up their host's cores."""
    return nodes[nodes["total_cores"] >= BROKER_FULL * nodes["cores"]]


def network_limit(links: pd.DataFrame) -> str:
    """Why the network was the limit; empty where it was not."""
    full_bytes_s = LINK_FULL * links["speed_bytes_s"]
    full = (links["sent_bytes_s"] >= full_bytes_s) | (links["received_bytes_s"] >= full_bytes_s)
    if full.any():
        return _traffic_text(links[full])
    lossy = links["retransmitted_share"] >= LOSSY
    return ", ".join(
        f"{100 * row.retransmitted_share:.1f} % of the TCP segments of host {row.host} were"
        " retransmitted"
        for row in (each(links[lossy].drop_duplicates("host")) if lossy.any() else ())
    )


def _traffic_text(links: pd.DataFrame) -> str:
    return ", ".join(
        f"{row.interface} of host {row.host} sent {row.sent_bytes_s / 1e6:.1f} and received"
        f" {row.received_bytes_s / 1e6:.1f}"
        + ("" if pd.isna(row.speed_bytes_s) else f" of {row.speed_bytes_s / 1e6:.1f}")
        + " MB/s"
        for row in each(links)
    )


def _without_limit(rows: pd.DataFrame, nodes: pd.DataFrame, links: pd.DataFrame) -> Verdict:
    testers = rows[rows["kind"].isin(["client", "server"])]
    unknown = {
        "CPU of the brokers": nodes.empty,
        "CPU of the load generators": testers.empty,
        "the number of cores": rows["cores"].isna().any(),
    }
    used = _cores_text(nodes, testers)
    if names := " and ".join(figure for figure, missing in unknown.items() if missing):
        return CANNOT_TELL, f"{names} not recorded; known: {used}"
    idle = f"no process out of CPU, no host above {100 * HOST_FULL:.0f} %: {used}"
    return NONE, "; ".join(filter(None, [idle, _traffic_text(links)]))


def _cores_text(*parts: pd.DataFrame) -> str:
    by_part = (listed(rows[rows["total_cores"].notna()]) for rows in parts)
    used = {name: cores for part in by_part for name, cores in part.items()}
    listing = ", ".join(f"{name} {cores:.2f} cores" for name, cores in used.items())
    return listing or "nothing known"
