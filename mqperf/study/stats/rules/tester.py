"""Who had the CPU: whether the load generators had some left, and what others took of it."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.load import GENERATORS
from mqperf.study.stats.rules.cpu import over_the_window, percent
from mqperf.study.stats.rules.finding import Finding, each, measured, steady
from mqperf.study.stats.rules.idle import cpu_too_low
from mqperf.study.stats.rules.stairs import used_cpu
from mqperf.study.tables import Tables

ONE_CORE = 0.9
"""Cores from which on a Python process counts as out of CPU.  It computes on one core at a time;
system calls of its threads may run beside that, so it can use slightly more than one."""

HOST_FULL = 0.95
"""Share of a host's cores above which processes wait for a core."""

FOREIGN = 0.1
"""Share of a host's cores that processes of others may use.  On a quiet host they use, with the
error of the kernel's counters, less than 0.025 of it in 159 of 171 recorded runs; those in which
they used more than a tenth were 5 to 12 % slower than the other repeats of their points."""

DISTURBED = ("noisy-host", "stolen-cpu")
"""The doubts that say that a host had less CPU for the run than it has."""

UNSEEN_S = 1.0
"""What a node used after its last sample, before an action ended it, looks like that of others."""

LOAD = ("client", "server")
WHOLE = ("host", "total")
"""The kinds of rows that are sums of others."""


def tester_saturated(tables: Tables) -> Iterator[Finding]:
    """A load generator without CPU left, or a host which the run's own processes filled."""
    kept = steady(measured(tables))["run"]
    window = over_the_window(tables)
    busy = busy_testers(window[window["run"].isin(kept)], tables["runs"])
    hosts = hosts_used(tables)
    hosts = hosts[hosts["run"].isin(kept)]
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

    Nothing is said of a run whose brokers were not watched, or that lacks the CPU of one of its
    processes over the window, or too little of it: what they used would look like that of others.
    """
    hosts = hosts_used(tables)
    if not hosts["noisy"].any():
        return
    window, cpu = over_the_window(tables), tables["cpu"]
    watched = window.loc[window["kind"].eq("broker") & window["total_cores"].notna(), "run"]
    sampled = cpu[["run", "process"]].drop_duplicates()
    joined = sampled.merge(window[["run", "process"]], how="left", indicator="where")
    partly = {*joined.loc[joined["where"] == "left_only", "run"]}
    partly |= {finding.run for finding in cpu_too_low(tables)}
    judged = hosts["run"].isin(watched) & ~hosts["run"].isin(partly)
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
    """The runs during which others had CPU of the host: they, not the system, may be the limit."""
    return {finding.run for rule in (noisy_host, stolen_cpu) for finding in rule(tables)}


def busy_testers(window: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Rows of CPU over the window: the load generators that used up the core that they run on."""
    busy = window["kind"].isin(LOAD) & window["total_cores"].ge(ONE_CORE)
    return window[busy.fillna(value=False) & ~window["run"].isin(on_several_cores(runs))]


def on_several_cores(runs: pd.DataFrame) -> pd.Series:
    """The runs of load generators of which a process may use more than one core, as commands do."""
    several = [name for name, generator in GENERATORS.items() if not generator.one_core]
    return runs.loc[runs["generator"].isin(several), "run"]


def hosts_used(tables: Tables) -> pd.DataFrame:
    """Who used the hosts: one row per run and host, from the rows of CPU by ``used_cpu``.

    Hosts of one machine, by the table ``hosts``, are one: its CPU is that of all of them.
    ``total_cores`` is what was used of its ``cores``, ``others`` what processes used that do not
    belong to the run, and ``stolen_cores`` what its hypervisor withheld, which is in neither of
    them; ``full`` says that it had no core left, ``tests`` that a load generator was on it,
    ``noisy`` that others used more than they may, ``robbed`` that the hypervisor withheld as much.
    """
    place = ["run", "host"]
    window = by_machine(used_cpu(tables), tables["hosts"])
    whole = window[(window["kind"] == "host") & window["total_cores"].notna()]
    of_run = window[~window["kind"].isin(WHOLE)].groupby(place)["total_cores"].sum()
    used = whole[[*place, "process", "cores", "total_cores", "stolen_cores"]].merge(
        of_run.rename("own"), how="left", left_on=place, right_index=True
    )
    testing = window.loc[window["kind"].isin(LOAD), place].drop_duplicates().assign(tests=True)
    used = used.merge(testing, how="left", on=place)
    stolen = used["stolen_cores"].fillna(0.0)
    others = (used["total_cores"] - stolen - used["own"].fillna(0.0)).clip(lower=0.0)
    full = used["total_cores"].ge(HOST_FULL * used["cores"])
    unseen = used["run"].map(_unseen_share(tables)).astype("float64").fillna(0.0)
    noisy = others.ge((FOREIGN + unseen) * used["cores"])
    robbed = stolen.ge(FOREIGN * used["cores"])
    testing_too = used["tests"].eq(True)  # noqa: FBT003
    told = {"full": full, "noisy": noisy, "robbed": robbed, "tests": testing_too}
    known = {name: values.fillna(value=False) for name, values in told.items()}
    return used.assign(others=others, **known)


def _unseen_share(tables: Tables) -> pd.Series:
    """Run -> share of its window in which a node may have run after its last sample."""
    outages = tables["outages"]
    nodes = tables["cpu"].loc[tables["cpu"]["kind"].eq("broker"), "process"].unique()
    ended = outages[outages["node"].isin(nodes)].groupby("run").size()
    return ended * UNSEEN_S / tables["runs"].groupby("run")["window_s"].first()


def by_machine(window: pd.DataFrame, hosts: pd.DataFrame) -> pd.DataFrame:
    """The rows with all hosts of one machine as one host, of which one row tells the CPU."""
    with_machine = hosts.dropna(subset=["machine"])
    if with_machine.empty:
        return window
    names = with_machine.groupby(["run", "machine"])["host"].transform(", ".join)
    shared = with_machine.assign(machine="the machine of " + names)[names != with_machine["host"]]
    place = ["run", "host"]
    rows = window.merge(shared[[*place, "machine"]], how="left", on=place)
    joint = rows["machine"].notna()
    whole = joint & rows["kind"].eq("host")
    rows = rows.assign(
        host=rows["host"].mask(joint, rows["machine"]),
        process=rows["process"].mask(whole, rows["machine"]),
    )
    again = whole & rows.duplicated([*place, "kind"])
    return rows[~again].drop(columns="machine")


def listed(rows: pd.DataFrame) -> dict[str, float]:
    """Process -> cores that it used."""
    names = rows["process"].astype(str)
    return {name: round(float(u), 3) for name, u in zip(names, rows["total_cores"], strict=True)}
