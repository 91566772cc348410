"""CPU of hosts: whether load generators had some left, and how much other processes used."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.load import GENERATORS
from mqperf.study.stats.rules.cpu import over_the_window, percent
from mqperf.study.stats.rules.finding import Finding, each, measured, steady
from mqperf.study.stats.rules.idle import cpu_too_low
from mqperf.study.stats.rules.stairs import used_cpu
from mqperf.study.tables import Tables, once

ONE_CORE = 0.9
"""Cores from which on a Python process counts as out of CPU.  It computes on one core at a time;
system calls of its threads may run beside that, so it can use slightly more than one."""

HOST_FULL = 0.95
"""Share of a host's cores above which processes wait for a core."""

FOREIGN = 0.1
"""Share of a host's cores that other processes may use.  With the error of the kernel's counters,
that was less than 0.025 in 159 of 171 recorded runs; runs in which it was more than a tenth were
5 to 12 % slower than the other repeats of their points."""

DISTURBED = ("noisy-host", "stolen-cpu")
"""The kinds of doubt that a host did not give all of its CPU to the run."""

UNSEEN_S = 1.0
"""Time a node may run after its last sample, before an action ends it; seen as CPU of others."""

TESTERS = ("client", "server")
SUM_KINDS = ("host", "total")
"""The kinds of rows of ``cpu`` that are sums of others."""


def tester_saturated(tables: Tables) -> Iterator[Finding]:
    """A load generator without CPU left, or a host which the run's own processes filled."""
    steady_runs = steady(measured(tables))["run"]
    window = over_the_window(tables)
    busy = busy_testers(window[window["run"].isin(steady_runs)], tables["runs"])
    hosts = hosts_used(tables)
    hosts = hosts[hosts["run"].isin(steady_runs)]
    disturbed = hosts["noisy"] | hosts["robbed"] | hosts["run"].isin(busy["run"])
    full = hosts[hosts["full"] & hosts["tests"] & ~disturbed]
    for run, rows in busy.groupby("run", sort=False):
        used = listed(rows)
        listing = ", ".join(f"{name} used {cores:.2f}" for name, cores in used.items())
        yield Finding(
            str(run),
            f"the tester was the bottleneck: a Python process runs on about one core, and"
            f" {listing}",
            {"cores_used": used},
        )
    for run, rows in full.groupby("run", sort=False):
        used, others = listed(rows), float(rows["others"].sum())
        listing = ", ".join(f"{name} {percent(cores)}" for name, cores in used.items())
        yield Finding(
            str(run),
            f"the load generator's host had no CPU left ({listing}, of which {percent(others)} by"
            " other processes): tester and broker waited for a core",
            {"cores_used": used, "cores_used_by_others": round(others, 3)},
        )


def noisy_host(tables: Tables) -> Iterator[Finding]:
    """A host on which processes that do not belong to the run used much CPU.

    Runs are skipped whose brokers were not watched, or that lack the CPU of one of their processes
    over the window, or have too little of it: the missing CPU would look like that of others.
    """
    hosts = hosts_used(tables)
    if not hosts["noisy"].any():
        return
    window, cpu = over_the_window(tables), tables["cpu"]
    watched = window.loc[window["kind"].eq("broker") & window["total_cores"].notna(), "run"]
    sampled = cpu[["run", "process"]].drop_duplicates()
    processes = sampled.merge(window[["run", "process"]], how="left", indicator="where")
    incomplete = {*processes.loc[processes["where"] == "left_only", "run"]}
    incomplete |= {finding.run for finding in cpu_too_low(tables)}
    judged = hosts["run"].isin(watched) & ~hosts["run"].isin(incomplete)
    for row in each(hosts[judged & hosts["noisy"]]):
        yield Finding(
            row.run,
            f"processes that do not belong to the run used {row.others:.2f} of the {row.cores}"
            f" cores of {row.process}, {100 * row.others / row.cores:.0f} %"
            + (", and it had no CPU left" if row.full else ""),
            {
                "cores": int(row.cores),
                "cores_used": round(row.total_cores, 3),
                "cores_used_by_others": round(row.others, 3),
            },
        )


def stolen_cpu(tables: Tables) -> Iterator[Finding]:
    """A host of whose CPU a hypervisor gave much to other machines."""
    hosts = hosts_used(tables)
    for row in each(hosts[hosts["robbed"]]):
        yield Finding(
            row.run,
            f"the hypervisor withheld {row.stolen_cores:.2f} of the {row.cores} cores of"
            f" {row.process}, {100 * row.stolen_cores / row.cores:.0f} % (steal time)",
            {"cores": int(row.cores), "cores_stolen": round(row.stolen_cores, 3)},
        )


def disturbed(tables: Tables) -> set[str]:
    """The runs during which others used CPU of the host, which may be the limit then."""
    return {finding.run for rule in (noisy_host, stolen_cpu) for finding in rule(tables)}


def busy_testers(window: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of load generators that used up the core that they run on."""
    busy = window["kind"].isin(TESTERS) & window["total_cores"].ge(ONE_CORE)
    return window[busy.fillna(value=False) & ~window["run"].isin(on_several_cores(runs))]


def on_several_cores(runs: pd.DataFrame) -> pd.Series:
    """The runs with load generators whose processes may use several cores, such as commands."""
    several = [name for name, generator in GENERATORS.items() if not generator.one_core]
    return runs.loc[runs["generator"].isin(several), "run"]


@once
def hosts_used(tables: Tables) -> pd.DataFrame:
    """CPU of hosts: one row per run and host, from the rows of ``used_cpu``.

    Hosts of one machine, by the table ``hosts``, count as one host.  ``total_cores`` are those in
    use, of its ``cores``; ``others`` are those that processes used which do not belong to the run;
    ``stolen_cores`` are those that its hypervisor withheld, and are not in ``others``.  ``full``
    says that it had no core left, ``tests`` that a load generator was on it, ``noisy`` that
    others used more than ``FOREIGN``, ``robbed`` that the hypervisor withheld more than that.
    """
    keys = ["run", "host"]
    window = by_machine(used_cpu(tables), tables["hosts"])
    host_rows = window[(window["kind"] == "host") & window["total_cores"].notna()]
    of_run = window[~window["kind"].isin(SUM_KINDS)].groupby(keys)["total_cores"].sum()
    names = ["process", "cores", "total_cores", "stolen_cores", "core_speed"]
    used = host_rows[[*keys, *names]].merge(
        of_run.rename("own"), how="left", left_on=keys, right_index=True
    )
    testing = window.loc[window["kind"].isin(TESTERS), keys].drop_duplicates().assign(tests=True)
    used = used.merge(testing, how="left", on=keys)
    stolen = used["stolen_cores"].fillna(0.0)
    others = (used["total_cores"] - stolen - used["own"].fillna(0.0)).clip(lower=0.0)
    full = used["total_cores"].ge(HOST_FULL * used["cores"])
    unseen = used["run"].map(_unseen_share(tables)).astype("float64").fillna(0.0)
    noisy = others.ge((FOREIGN + unseen) * used["cores"])
    robbed = stolen.ge(FOREIGN * used["cores"])
    testing_too = used["tests"].eq(True)  # noqa: FBT003
    flags = {"full": full, "noisy": noisy, "robbed": robbed, "tests": testing_too}
    filled = {name: values.fillna(value=False) for name, values in flags.items()}
    return used.assign(others=others, **filled)


def _unseen_share(tables: Tables) -> pd.Series:
    """Run -> share of its window in which a node may have run after its last sample."""
    outages = tables["outages"]
    nodes = tables["cpu"].loc[tables["cpu"]["kind"].eq("broker"), "process"].unique()
    endings = outages[outages["node"].isin(nodes)].groupby("run").size()
    return endings * UNSEEN_S / tables["runs"].groupby("run")["window_s"].first()


def by_machine(window: pd.DataFrame, hosts: pd.DataFrame) -> pd.DataFrame:
    """The rows with all hosts of one machine as one host, which has a single row of kind host."""
    with_machine = hosts.dropna(subset=["machine"])
    if with_machine.empty:
        return window
    names = with_machine.groupby(["run", "machine"])["host"].transform(", ".join)
    shared = with_machine.assign(machine="the machine of " + names)[names != with_machine["host"]]
    keys = ["run", "host"]
    rows = window.merge(shared[[*keys, "machine"]], how="left", on=keys)
    joint = rows["machine"].notna()
    is_host = joint & rows["kind"].eq("host")
    rows = rows.assign(
        host=rows["host"].mask(joint, rows["machine"]),
        process=rows["process"].mask(is_host, rows["machine"]),
    )
    repeated = is_host & rows.duplicated([*keys, "kind"])
    return rows[~repeated].drop(columns="machine")


def listed(rows: pd.DataFrame) -> dict[str, float]:
    """Process -> cores that it used."""
    names = rows["process"].astype(str)
    return {name: round(float(u), 3) for name, u in zip(names, rows["total_cores"], strict=True)}
