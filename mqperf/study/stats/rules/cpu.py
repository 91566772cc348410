"""CPU: parts make up wholes, nobody uses more than there is, and every second is sampled."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.topologies import TOPOLOGIES
from mqperf.study.probes.psutil_actions import FOUND_S
from mqperf.study.stats.rules.finding import RUN_KEYS, Finding, detail, each, found
from mqperf.study.tables import Tables

PRINTED = 0.0005
"""Half of the last digit that a report prints: 0.1 % of a hardware thread."""

MISCOUNT = 0.05
"""Share by which the kernel's counters of processes and of the host may differ: they are sampled
one after the other, and ticks are shared out by chance."""

GAP_S = 1.8
"""The probe samples once a second; a late sample is not yet a missing one."""

PROCESS = ["run", "process"]
HOST = ["run", "host"]

SAMPLED = "sampled"
"""Under which name the rule finds what ``sampled`` gives, where single seconds are not kept."""


def cpu_sum(tables: Tables) -> Iterator[Finding]:
    """Parts that are not the whole: nodes and their printed total, processes and their host."""
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
            f"{row.process} used {percent(row.sys_cores)} CPU in the system,"
            f" but only {percent(row.total_cores)} in all",
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
    """Seconds of the window in which a process was not sampled, and not ended by the plan."""
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
    """Runs over a topology that says what its nodes are called, of which only some were sampled.

    Nothing is said of nodes that the plan acted on, nor where they have other names.
    """
    cpu, acted_on = tables["cpu"], tables["outages"][["run", "node"]].value_counts().index
    brokers = cpu[cpu["kind"].eq("broker")].drop_duplicates(PROCESS)
    for topology, of_topology in brokers.groupby("topology"):
        known = TOPOLOGIES.get(str(topology))
        asked = known.nodes if known else ()
        for run, rows in of_topology.groupby("run", sort=False):
            watched = [str(node) for node in rows["process"]]
            gone = [n for n in asked if n not in watched and (run, n) not in acted_on]
            if gone and {*watched} < {*asked}:
                yield Finding(
                    str(run),
                    f"nothing is recorded of {', '.join(gone)}, and the topology {topology} has"
                    f" the nodes {', '.join(asked)}",
                    {"nodes": len(asked), "sampled": len(watched)},
                )


def sampled(tables: Tables) -> pd.DataFrame:
    """One row per process that was sampled in a run, by second, and the keys of the run.

    ``missing_s`` are the seconds of the window without a sample that are too many; none for none.
    """
    if (known := tables.get(SAMPLED)) is not None:
        return known
    runs, cpu = tables["runs"], tables["cpu"]
    done = runs.loc[runs["status"] == "done", ["run", "window_s"]]
    samples = cpu[cpu["scope"].eq("interval") & cpu["run"].isin(done["run"])]
    missing = _unplanned(_gaps(samples[[*PROCESS, "start_s", "end_s"]], done), tables["outages"])
    seconds = missing.groupby(PROCESS)["missing_s"].sum().reset_index()
    processes = samples.drop_duplicates(PROCESS)[[*RUN_KEYS, "process"]]
    return processes.merge(seconds, how="left", on=PROCESS)


def unread_record(tables: Tables) -> Iterator[Finding]:
    """Records of nodes elsewhere, beside the runs, that cannot be read: all else stands."""
    events = tables["events"]
    for row in each(events[events["what"] == "unread"]):
        reason = str(detail(row).get("reason", "no reason recorded")).rstrip(".")
        yield Finding(
            row.run,
            f"CPU of {row.host} is unknown, as its record cannot be read: {reason}; replace the"
            " record, or remove it",
            {"node": str(row.host), "reason": reason},
        )


def over_the_window(tables: Tables) -> pd.DataFrame:
    """CPU over the measured window, one row per process."""
    cpu = tables["cpu"]
    return cpu[cpu["scope"] == "window"]


def percent(cores: float) -> str:
    """The cores as a report prints them: 100 % is one hardware thread."""
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
    """What lies between the samples of a process, or at an end of the window.

    A row is a time ``begin_s`` to ``end_s`` without a sample, of which ``missing_s`` are too many.
    """
    ordered = samples.sort_values([*PROCESS, "start_s"], ignore_index=True)
    sparse = ordered.rename(columns={"start_s": "begin_s"})
    sparse["missing_s"] = sparse["end_s"] - sparse["begin_s"] - 1
    next_one = ordered.groupby(PROCESS, sort=False)["start_s"].shift(-1).astype(float)
    window_s = ordered["run"].map(done.set_index("run")["window_s"]).astype(float)
    after = ordered[PROCESS].assign(begin_s=ordered["end_s"], end_s=next_one.fillna(window_s))
    first = ordered.drop_duplicates(PROCESS)
    before = first[PROCESS].assign(begin_s=0.0, end_s=first["start_s"])
    beside = pd.concat([before, after], ignore_index=True)
    beside["missing_s"] = beside["end_s"] - beside["begin_s"]
    gaps = pd.concat([sparse, beside], ignore_index=True)
    return gaps[gaps["missing_s"] > GAP_S - 1]


def _unplanned(gaps: pd.DataFrame, outages: pd.DataFrame) -> pd.DataFrame:
    """Without those of nodes that an action of the plan had down."""
    planned = gaps.reset_index().merge(
        outages[["run", "node", "began_s", "ended_s"]], left_on=PROCESS, right_on=["run", "node"]
    )
    inside = planned["begin_s"].ge(planned["began_s"] - GAP_S) & planned["end_s"].le(
        planned["ended_s"] + FOUND_S
    )
    return gaps[~gaps.index.isin(planned.loc[inside, "index"])]
