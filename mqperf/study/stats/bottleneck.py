"""The bottleneck of each run, with the evidence for it, from CPU and network.

The network is the limit when a link is full, or when it loses so much that TCP holds back: what a
connection can carry falls with the root of its losses (M. Mathis and others, The Macroscopic
Behavior of the TCP Congestion Avoidance Algorithm, 1997).  Where CPU and network are left, the
limit is elsewhere: a lock, one thread inside the broker, or the clients' own waiting.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from mqperf.plan.columns import TABLES
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.stats.rules.finding import Row, each, measured
from mqperf.study.stats.rules.stairs import used_cpu
from mqperf.study.stats.rules.tester import HOST_FULL, TESTERS, busy_testers, hosts_used
from mqperf.study.tables import Tables, conform

BROKER_FULL = 0.9
"""Share of its host's cores from which on a broker node counts as out of CPU."""

LINK_FULL = 0.9
"""Share of its speed, in one direction, from which on a link counts as full: headers of the link
itself and gaps between frames are not counted in the bytes."""

LOSSY = 0.01
"""Share of TCP segments retransmitted from which on the network counts as the limit."""

OF_RUNS = ("broker", *TESTERS, "background")
"""Kinds of processes that belong to a run."""

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
    used, links = rows_by_run(used_cpu(tables)), rows_by_run(tables["network"])
    full = full_by_run(tables)
    verdicts = [_verdict(used(run), full(run), links(run)) for run in runs["run"]]
    verdict_table = pd.DataFrame(verdicts, runs.index, ["bottleneck", "because"])
    return conform("bottlenecks", runs.join(verdict_table))


def rows_by_run(frame: pd.DataFrame) -> Callable[[str], pd.DataFrame]:
    """A function that gives the rows of a run."""
    positions, no_rows = frame.groupby("run").indices, frame.iloc[:0]
    return lambda run: frame.iloc[positions[run]] if run in positions else no_rows


@dataclass(frozen=True, slots=True)
class Full:
    """What was full in a run: its rows of CPU, by kind, and of ``network``.

    Load generators used up the core that they run on, nodes and hosts the cores that they have;
    networks were full, or lost so much that TCP held back.
    """

    testers: pd.DataFrame
    nodes: pd.DataFrame
    hosts: pd.DataFrame
    networks: pd.DataFrame


def full_by_run(tables: Tables) -> Callable[[str], Full]:
    """A function that gives what was full in a run."""
    used, hosts, links = used_cpu(tables), hosts_used(tables), tables["network"]
    nodes = used[used["kind"] == "broker"]
    limits = (
        busy_testers(used, tables["runs"]),
        nodes[nodes["total_cores"] >= BROKER_FULL * nodes["cores"]],
        hosts[hosts["full"]],
        links[_is_full(links) | (links["retransmitted_share"] >= LOSSY)],
    )
    testers, full_nodes, full_hosts, networks = map(rows_by_run, limits)
    return lambda run: Full(testers(run), full_nodes(run), full_hosts(run), networks(run))


def _verdict(used: pd.DataFrame, full: Full, links: pd.DataFrame) -> Verdict:
    if used.empty:
        return CANNOT_TELL, "no CPU was recorded over the window"
    if len(full.testers):
        text = _cores_text(each(full.testers))
        return LOAD_GENERATORS, f"a Python process runs on about one core: {text}"
    if len(full.nodes):
        names = ", ".join(full.nodes["process"])
        by_size = full.nodes.groupby("cores", sort=False)
        text = "; ".join(f"of {cores} cores: {_cores_text(each(rows))}" for cores, rows in by_size)
        return f"broker: {names}", text
    if len(full.hosts):
        text = _cores_text(row for row in each(used) if row.kind in OF_RUNS)
        whose = "the load generators'" if full.hosts["tests"].any() else "the brokers'"
        reason = f"{whose} host was full ({_cores_text(each(full.hosts))}): {text};"
        return "host", f"{reason} others {full.hosts['others'].sum():.2f} cores"
    if len(full.networks):
        return "network", network_limit(full.networks)
    return _without_limit(used, links)


def agreed(verdicts: pd.Series) -> str | None:
    """The bottleneck on which all runs agree; None where they do not, or it is not known."""
    limits = [*verdicts.dropna().unique()]
    return limits[0] if len(limits) == 1 and limits[0] not in {CANNOT_TELL, NONE} else None


def _is_full(links: pd.DataFrame) -> pd.Series:
    full_bytes_s = LINK_FULL * links["speed_bytes_s"]
    return (links["sent_bytes_s"] >= full_bytes_s) | (links["received_bytes_s"] >= full_bytes_s)


def network_limit(limits: pd.DataFrame) -> str:
    """Why the network was the limit of a run, by its networks in ``Full``."""
    if (full := _is_full(limits)).any():
        return _traffic_text(limits[full])
    return ", ".join(
        f"{100 * row.retransmitted_share:.1f} % of the TCP segments of host {row.host} were"
        " retransmitted"
        for row in each(limits.drop_duplicates("host"))
    )


def _traffic_text(links: pd.DataFrame) -> str:
    return ", ".join(
        f"{row.interface} of host {row.host} sent {row.sent_bytes_s / 1e6:.1f} and received"
        f" {row.received_bytes_s / 1e6:.1f}"
        + ("" if pd.isna(row.speed_bytes_s) else f" of {row.speed_bytes_s / 1e6:.1f}")
        + " MB/s"
        for row in each(links)
    )


def _without_limit(used: pd.DataFrame, links: pd.DataFrame) -> Verdict:
    nodes = [row for row in each(used) if row.kind == "broker"]
    testers = [row for row in each(used) if row.kind in TESTERS]
    unknown = {
        "CPU of the brokers": not nodes,
        "CPU of the load generators": not testers,
        "the number of cores": used["cores"].isna().any(),
    }
    known = _cores_text([*nodes, *testers])
    if names := " and ".join(figure for figure, missing in unknown.items() if missing):
        return CANNOT_TELL, f"{names} not recorded; known: {known}"
    idle = f"no process out of CPU, no host above {100 * HOST_FULL:.0f} %: {known}"
    return NONE, "; ".join(filter(None, [idle, _traffic_text(links)]))


def _cores_text(rows: Iterable[Row]) -> str:
    used = {row.process: row.total_cores for row in rows if pd.notna(row.total_cores)}
    listing = ", ".join(f"{name} {round(cores, 3):.2f} cores" for name, cores in used.items())
    return listing or "nothing known"
