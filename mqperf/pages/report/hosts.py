"""The hosts of a page's runs: hardware and roles of each, its clock, and its CPU usage."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.report.rst import MISSING, Grid, Text
from mqperf.pages.report.words import joined
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import Tables
from mqperf.study.tables.axis_words import texts

FACTS = ("machine", "roles", "cores", "cpu_model", "kernel", "network_cards", "clock_synchronised")
CLOCKS = ("before", "after")

ABOUT = Text(
    "Times of all hosts are converted to the clock of the controller. The figure before ± is how"
    " far a host's clock was *ahead* of that, before and after the load; the figure after it is the"
    " error bound. For several runs, minimum and maximum are given."
)


def several(hosts: pd.DataFrame) -> bool:
    """Return whether any run had more than one host: then names and clocks of hosts matter."""
    return bool(hosts.groupby("run")["host"].nunique().gt(1).any())


VIRTUAL = "(veth"
"""Marks a network card that connects network namespaces of one machine."""


def shared(hosts: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on each machine that several hosts of the same run shared."""
    identified = hosts.dropna(subset=["machine"])
    by_machine = identified.groupby(["run", "machine"])["host"]
    host_names = by_machine.transform(lambda hosts: ",".join(sorted(hosts.unique())))
    for names, sharing in identified.groupby(host_names):
        if "," not in str(names):
            continue
        labels, first = str(names).split(","), sharing.iloc[0]
        virtual = sharing["network_cards"].str.contains(VIRTUAL, regex=False)
        kind = "network namespaces" if virtual.fillna(value=False).all() else "parts"
        threads = "" if pd.isna(first["cores"]) else f" with {first['cores']} hardware threads"
        yield (
            f"These hosts are {kind} of one machine{threads}: {joined(labels)}. They share its"
            " processors, memory, kernel and clock; packets between them never leave it."
        )


def _machines(hosts: pd.DataFrame) -> pd.Series:
    """Return the number of each host's machine, from 1, with its number of hosts if several."""
    number = pd.Series(pd.factorize(hosts["machine"])[0] + 1, hosts.index)
    count = hosts.groupby(["run", "machine"])["host"].transform("nunique")
    labels = number.astype(str) + count.map(lambda many: f", as {many} hosts" if many > 1 else "")
    return labels.where(hosts["machine"].notna()).astype("string")


def grid(tables: Tables) -> Grid | None:
    """Return a table with one row per host; None if every run had one host only."""
    hosts = tables["hosts"]
    if not several(hosts):
        return None
    hosts, cpu = hosts.assign(machine=_machines(hosts)), tables["cpu"]
    used = cpu[(cpu["scope"] == "window") & (cpu["kind"] == "host")].groupby("host")["total_cores"]
    shares = (used.mean() * 100).to_dict()
    rows = tuple(
        (
            str(host),
            *("; ".join(texts(of_host[name])) or MISSING for name in FACTS),
            *(_clock(of_host, when) for when in CLOCKS),
            f"{shares[host]:.1f}" if host in shares else MISSING,
        )
        for host, of_host in hosts.groupby("host", sort=False)
    )
    headings = ("host", *(COLUMNS[name].label or name for name in FACTS))
    clocks = tuple(f"clock {when}, ms" for when in CLOCKS)
    return Grid("Hosts", (*headings, *clocks, "CPU used, %"), rows, style="hosts")


def _clock(of_host: pd.DataFrame, when: str) -> str:
    """Format offset ± bound in ms: ``+0.012 ± 0.058``; for several runs the range of offsets."""
    offsets = of_host[f"clock_offset_{when}_s"].dropna() * 1e3
    if offsets.empty:
        return MISSING
    ends = dict.fromkeys(f"{value:+.3f}" for value in (offsets.min(), offsets.max()))
    bound = of_host[f"clock_bound_{when}_s"].max() * 1e3
    return f"{' to '.join(ends)} ± {bound:.3f}"
