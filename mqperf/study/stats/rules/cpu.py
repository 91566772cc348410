"""CPU: parts add up, no process uses more than its host has, and every second is sampled."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.topologies import TOPOLOGIES
from mqperf.study.probes.psutil_actions import FOUND_S
from mqperf.study.stats.rules.finding import RUN_KEYS, Finding, detail, each, found
from mqperf.study.tables import Tables, once

PRINTED = 0.0005
"""Half of the last digit that a report prints: 0.1 % of a hardware thread."""

MISCOUNT = 0.05
"""Share by which the kernel's counters of processes and of the host may differ: they are read one
after the other, and ticks are assigned to processes by chance."""

GAP_S = 1.8
"""Seconds without a sample that count as a gap; the probe samples once a second, sometimes late."""

PROCESS = ["run", "process"]
HOST = ["run", "host"]

SAMPLED = "sampled"
"""The table with the result of ``sampled``, where the rows of single seconds are not kept."""


def cpu_sum(tables: Tables) -> Iterator[Finding]:
    """Sums of CPU that are wrong: of nodes and their printed total, of processes and their host."""
    window = over_the_window(tables)
    printed = window.loc[window["kind"].eq("total"), "run"]
    for run, rows in window[window["run"].isin(printed)].groupby("run", sort=False):
        yield from _printed_total(str(run), rows)
    parts = window[~window["kind"].isin(["host", "total"])].groupby(HOST)["total_cores"].sum()
    hosts = window[window["kind"].eq("host")].dropna(subset="total_cores").drop_duplicates(HOST)
    hosts = hosts.merge(parts.rename("parts"), left_on=HOST, right_index=True)
    for row in each(hosts[hosts["parts"] > hosts["total_cores"] * (1 + MISCOUNT) + MISCOUNT]):
        yield Finding(
            row.run,
            f"the processes on {row.host} used {row.parts:.2f} cores together, the host itself only"
            f" {row.total_cores:.2f}",
            {"processes_cores": round(row.parts, 3), "host_cores": row.total_cores},
        )


def sys_exceeds_total(tables: Tables) -> Iterator[Finding]:
    """System CPU above the sum of user and system CPU."""
    window = over_the_window(tables)
    for row in each(window[window["sys_cores"] > window["total_cores"] + 2 * PRINTED]):
        yield Finding(
            row.run,
            f"{row.process} used {percent(row.sys_cores)} system CPU, but only"
            f" {percent(row.total_cores)} in total",
            {"process": row.process, "total_cores": row.total_cores, "sys_cores": row.sys_cores},
        )


def cpu_exceeds_cores(tables: Tables) -> Iterator[Finding]:
    """A process or host that used more CPU than its host has."""
    window = over_the_window(tables)
    yield from found(
        window[window["total_cores"] > window["cores"] * (1 + MISCOUNT)],
        "{process} used {total_cores:.2f} cores of a host that has {cores}",
        *("process", "total_cores", "cores"),
    )


def probe_gap(tables: Tables) -> Iterator[Finding]:
    """Seconds of the window in which a process was not sampled, unless the plan had ended it."""
    runs = tables["runs"]
    done = runs.loc[runs["status"] == "done", "run"]
    samples = sampled(tables)
    for run in done[~done.isin(samples["run"])]:
        yield Finding(run, "CPU was not sampled at all")
    gaps = samples[samples["run"].isin(done) & samples["missing_s"].notna()]
    for run, rows in gaps.sort_values(PROCESS).groupby("run", sort=False):
        seconds = {str(gap.process): round(float(gap.missing_s), 1) for gap in each(rows)}
        listing = ", ".join(f"{process} for {gap:g} s" for process, gap in seconds.items())
        yield Finding(
            str(run), f"CPU was not sampled in the whole window: {listing}", {"missing_s": seconds}
        )


def missing_node(tables: Tables) -> Iterator[Finding]:
    """Runs in which only some of the nodes that the topology names were sampled.

    Nodes that the plan acted on are ignored, and runs whose nodes have other names.
    """
    cpu, acted_on = tables["cpu"], tables["outages"][["run", "node"]].value_counts().index
    brokers = cpu[cpu["kind"].eq("broker")].drop_duplicates(PROCESS)
    for topology, of_topology in brokers.groupby("topology"):
        definition = TOPOLOGIES.get(str(topology))
        nodes = definition.nodes if definition else ()
        for run, rows in of_topology.groupby("run", sort=False):
            watched = [str(node) for node in rows["process"]]
            missing = [n for n in nodes if n not in watched and (run, n) not in acted_on]
            if missing and {*watched} < {*nodes}:
                yield Finding(
                    str(run),
                    f"nothing is recorded of {', '.join(missing)}, although the topology {topology}"
                    f" has the nodes {', '.join(nodes)}",
                    {"nodes": len(nodes), "sampled": len(watched)},
                )


def sampled(tables: Tables) -> pd.DataFrame:
    """One row per process that was sampled by the second in a run, with the keys of the run.

    ``missing_s`` are the seconds of the window in gaps between samples; NaN if there are no gaps.
    """
    if (cached := tables.get(SAMPLED)) is not None:
        return cached
    runs, cpu = tables["runs"], tables["cpu"]
    done = runs.loc[runs["status"] == "done", ["run", "window_s"]]
    samples = cpu[cpu["scope"].eq("interval") & cpu["run"].isin(done["run"])]
    missing = _unplanned(_gaps(samples[[*PROCESS, "start_s", "end_s"]], done), tables["outages"])
    seconds = missing.groupby(PROCESS)["missing_s"].sum().reset_index()
    processes = samples.drop_duplicates(PROCESS)[[*RUN_KEYS, "process"]]
    return processes.merge(seconds, how="left", on=PROCESS)


def unread_record(tables: Tables) -> Iterator[Finding]:
    """Records of nodes on other hosts that cannot be read; all other figures are valid."""
    events = tables["events"]
    for row in each(events[events["what"] == "unread"]):
        reason = str(detail(row).get("reason", "no reason recorded")).rstrip(".")
        yield Finding(
            row.run,
            f"CPU of {row.host} is unknown, as its record cannot be read: {reason}; replace the"
            " record, or remove it",
            {"node": str(row.host), "reason": reason},
        )


@once
def over_the_window(tables: Tables) -> pd.DataFrame:
    """CPU over the measured window, one row per process."""
    cpu = tables["cpu"]
    return cpu[cpu["scope"] == "window"]


def percent(cores: float) -> str:
    """Cores as percent, as in reports: 100 % is one hardware thread."""
    return f"{cores * 100:.1f} %"


def _printed_total(run: str, rows: pd.DataFrame) -> Iterator[Finding]:
    total = rows.loc[rows["kind"] == "total", "total_cores"].dropna()
    nodes = rows.loc[rows["kind"] == "broker", "total_cores"]
    if total.empty or nodes.empty or nodes.isna().any():
        return
    rounding = (len(nodes) + 1) * PRINTED
    if abs(nodes.sum() - total.iloc[0]) > rounding + 1e-9:
        yield Finding(
            run,
            f"the nodes used {percent(nodes.sum())} CPU together, the report's total is"
            f" {percent(total.iloc[0])}",
            {"nodes_cores": round(float(nodes.sum()), 4), "total_cores": float(total.iloc[0])},
        )


def _gaps(samples: pd.DataFrame, done: pd.DataFrame) -> pd.DataFrame:
    """The gaps between the samples of each process, and at both ends of the window.

    A row is a time ``begin_s`` to ``end_s`` without a sample; ``missing_s`` of it are missing.
    """
    ordered = samples.sort_values([*PROCESS, "start_s"], ignore_index=True)
    long_samples = ordered.rename(columns={"start_s": "begin_s"})
    long_samples["missing_s"] = long_samples["end_s"] - long_samples["begin_s"] - 1
    next_start = ordered.groupby(PROCESS, sort=False)["start_s"].shift(-1).astype(float)
    window_s = ordered["run"].map(done.set_index("run")["window_s"]).astype(float)
    after = ordered[PROCESS].assign(begin_s=ordered["end_s"], end_s=next_start.fillna(window_s))
    first = ordered.drop_duplicates(PROCESS)
    before = first[PROCESS].assign(begin_s=0.0, end_s=first["start_s"])
    between = pd.concat([before, after], ignore_index=True)
    between["missing_s"] = between["end_s"] - between["begin_s"]
    gaps = pd.concat([long_samples, between], ignore_index=True)
    return gaps[gaps["missing_s"] > GAP_S - 1]


def _unplanned(gaps: pd.DataFrame, outages: pd.DataFrame) -> pd.DataFrame:
    """The gaps without those of nodes while an action of the plan had them down."""
    with_actions = gaps.reset_index().merge(
        outages[["run", "node", "began_s", "ended_s"]], left_on=PROCESS, right_on=["run", "node"]
    )
    during = with_actions["begin_s"].ge(with_actions["began_s"] - GAP_S) & with_actions["end_s"].le(
        with_actions["ended_s"] + FOUND_S
    )
    return gaps[~gaps.index.isin(with_actions.loc[during, "index"])]
