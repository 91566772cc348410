"""CPU: parts make up wholes, nobody uses more than there is, and the tester has some left."""

from collections.abc import Iterator

import pandas as pd

from mqperf.stats.rules.finding import Finding, each
from mqperf.tables import Tables

PRINTED = 0.0005
"""Half of the last digit that a report prints: 0.1 % of a hardware thread."""

MISCOUNT = 0.05
"""Share by which the kernel's counters of processes and of the host may differ: they are sampled
one after the other, and ticks are shared out by chance."""

ONE_CORE = 0.9
"""A Python process uses one core at most; above nine tenths of it, it waits for itself."""

HOST_FULL = 0.95
"""Share of a host's cores above which processes wait for a core."""

GAP_S = 1.8
"""The probe samples once a second; a late sample is not yet a missing one."""

LOAD = ("client", "server")
PROCESS = ["run", "process"]


def cpu_sum(tables: Tables) -> Iterator[Finding]:
    """Parts that are not the whole: nodes and their printed total, processes and their host."""
    window = over_the_window(tables)
    for run, rows in window.groupby("run", sort=False):
        yield from _printed_total(str(run), rows)
        for host, own in rows.groupby("host", sort=False):
            yield from _host_total(str(run), str(host), own)


def sys_exceeds_total(tables: Tables) -> Iterator[Finding]:
    """System CPU above the sum of user and system CPU."""
    window = over_the_window(tables)
    for row in each(window[window["sys_cores"] > window["total_cores"] + 2 * PRINTED]):
        yield Finding(
            row.run,
            f"{row.process} used {_percent(row.sys_cores)} CPU in the system,"
            f" but only {_percent(row.total_cores)} in all",
            {"process": row.process, "total_cores": row.total_cores, "sys_cores": row.sys_cores},
        )


def cpu_exceeds_cores(tables: Tables) -> Iterator[Finding]:
    """A process or host that used more CPU than its host has."""
    window = over_the_window(tables)
    for row in each(window[window["total_cores"] > window["cores"] * (1 + MISCOUNT)]):
        yield Finding(
            row.run,
            f"{row.process} used {row.total_cores:.2f} cores of a host that has {row.cores}",
            {"process": row.process, "total_cores": row.total_cores, "cores": int(row.cores)},
        )


def tester_saturated(tables: Tables) -> Iterator[Finding]:
    """A load generator, or the host it runs on, without CPU left."""
    window = over_the_window(tables)
    for run, rows in window.groupby("run", sort=False):
        busy = busy_testers(rows)
        full = full_hosts(rows)
        if busy:
            listing = ", ".join(f"{name} {_percent(used)}" for name, used in busy.items())
            yield Finding(
                str(run),
                f"the tester was the bottleneck: of the one core that a process can use, {listing}"
                " was in use",
                {"cores_used": busy},
            )
        elif full:
            listing = ", ".join(f"{name} {_percent(used)}" for name, used in full.items())
            yield Finding(
                str(run),
                f"the load generator's host had no CPU left ({listing}, of which"
                f" {_percent(foreign(rows))} by other processes): tester and broker waited for a"
                " core",
                {"cores_used": full, "cores_used_by_others": round(foreign(rows), 3)},
            )


def probe_gap(tables: Tables) -> Iterator[Finding]:
    """Seconds of the window in which a process was not sampled."""
    runs, cpu = tables["runs"], tables["cpu"]
    done = runs.loc[runs["status"] == "done", ["run", "window_s"]]
    samples = cpu.loc[cpu["scope"] == "interval", [*PROCESS, "start_s", "end_s"]]
    for run in done.loc[~done["run"].isin(samples["run"]), "run"]:
        yield Finding(run, "CPU was not sampled at all")
    missing = _between(samples).add(_at_the_ends(samples, done), fill_value=0.0)
    frame = missing[missing > 0].rename("seconds").reset_index()
    for run, gaps in frame.groupby("run", sort=False):
        seconds = {str(gap.process): round(float(gap.seconds), 1) for gap in each(gaps)}
        listing = ", ".join(f"{process} for {gap:g} s" for process, gap in seconds.items())
        yield Finding(
            str(run), f"CPU was not sampled in the whole window: {listing}", {"missing_s": seconds}
        )


def over_the_window(tables: Tables) -> pd.DataFrame:
    """CPU over the measured window, one row per process."""
    cpu = tables["cpu"]
    return cpu[cpu["scope"] == "window"]


def busy_testers(rows: pd.DataFrame) -> dict[str, float]:
    """Of one run: the load generators that used up the one core they can use."""
    busy = rows[rows["kind"].isin(LOAD) & (rows["total_cores"] >= ONE_CORE)]
    return _used(busy)


def full_hosts(rows: pd.DataFrame) -> dict[str, float]:
    """Of one run: the hosts of load generators that had no core left."""
    testers = set(rows.loc[rows["kind"].isin(LOAD), "host"])
    hosts = rows[(rows["kind"] == "host") & rows["host"].isin(testers)]
    return _used(hosts[hosts["total_cores"] >= HOST_FULL * hosts["cores"]])


def foreign(rows: pd.DataFrame) -> float:
    """Of one run: cores that processes which do not belong to it used on its hosts."""
    hosts = rows["kind"] == "host"
    whole, own = rows.loc[hosts, "total_cores"].sum(), rows.loc[~hosts, "total_cores"].sum()
    return max(float(whole - own), 0.0)


def _printed_total(run: str, rows: pd.DataFrame) -> Iterator[Finding]:
    total = rows.loc[rows["kind"] == "total", "total_cores"].dropna()
    nodes = rows.loc[rows["kind"] == "broker", "total_cores"]
    if total.empty or nodes.empty or nodes.isna().any():
        return
    rounding = (len(nodes) + 1) * PRINTED
    if abs(nodes.sum() - total.iloc[0]) > rounding + 1e-9:
        yield Finding(
            run,
            f"the nodes used {_percent(nodes.sum())} CPU together, the report's total is"
            f" {_percent(total.iloc[0])}",
            {"nodes_cores": round(float(nodes.sum()), 4), "total_cores": float(total.iloc[0])},
        )


def _host_total(run: str, host: str, rows: pd.DataFrame) -> Iterator[Finding]:
    whole = rows.loc[rows["kind"] == "host", "total_cores"].dropna()
    parts = rows.loc[~rows["kind"].isin(["host", "total"]), "total_cores"].sum()
    if len(whole) and parts > whole.iloc[0] * (1 + MISCOUNT) + MISCOUNT:
        yield Finding(
            run,
            f"the processes on {host} used {parts:.2f} cores together, the host itself only"
            f" {whole.iloc[0]:.2f}",
            {"processes_cores": round(float(parts), 3), "host_cores": float(whole.iloc[0])},
        )


def _between(samples: pd.DataFrame) -> pd.Series:
    """Seconds missing between samples, by run and process."""
    held = samples.assign(missing=samples["end_s"] - samples["start_s"] - 1)
    return held[held["missing"] > GAP_S - 1].groupby(PROCESS)["missing"].sum()


def _at_the_ends(samples: pd.DataFrame, done: pd.DataFrame) -> pd.Series:
    """Seconds missing before the first sample and after the last one, by run and process."""
    ends = samples.groupby(PROCESS, as_index=False).agg(
        first=("start_s", "min"), last=("end_s", "max")
    )
    ends = ends.merge(done, on="run").set_index(PROCESS)
    before, after = ends["first"], ends["window_s"] - ends["last"]
    return before.where(before > GAP_S - 1, 0.0) + after.where(after > GAP_S - 1, 0.0)


def _used(rows: pd.DataFrame) -> dict[str, float]:
    names = rows["process"].astype(str)
    return {name: round(float(u), 3) for name, u in zip(names, rows["total_cores"], strict=True)}


def _percent(cores: float) -> str:
    return f"{cores * 100:.1f} %"
