"""The hosts of a page's runs: what each is and does, its clock, and the CPU that it used."""

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.report.rst import MISSING, Grid, Text
from mqperf.tables import Tables

FACTS = ("roles", "cores", "cpu_model", "kernel", "network_cards", "clock_synchronised")
CLOCKS = ("before", "after")

ABOUT = Text(
    "Instants of all hosts are given by the clock of the controller. A host's clock was *ahead* of"
    " that by what stands before ±, before and after the load; what stands behind it is the most by"
    " which that may be wrong. Of several runs the least and the largest are given."
)


def several(hosts: pd.DataFrame) -> bool:
    """Whether any run had more than one host: then names and clocks of hosts matter."""
    return bool(hosts.groupby("run")["host"].nunique().gt(1).any())


def grid(tables: Tables) -> Grid | None:
    """One row per host; None where every run had one host only."""
    hosts = tables["hosts"]
    if not several(hosts):
        return None
    cpu = tables["cpu"]
    used = cpu[(cpu["scope"] == "window") & (cpu["kind"] == "host")].groupby("host")["total_cores"]
    shares = (used.mean() * 100).to_dict()
    rows = tuple(
        (
            str(host),
            *(_values(own[name]) for name in FACTS),
            *(_clock(own, when) for when in CLOCKS),
            f"{shares[host]:.1f}" if host in shares else MISSING,
        )
        for host, own in hosts.groupby("host", sort=False)
    )
    headings = ("host", *(COLUMNS[name].label or name for name in FACTS))
    clocks = tuple(f"clock {when}, ms" for when in CLOCKS)
    return Grid("Hosts", (*headings, *clocks, "CPU used, %"), rows, style="")


def _values(column: pd.Series) -> str:
    known = [str(value) for value in column.dropna().unique()]
    return "; ".join(known) or MISSING


def _clock(own: pd.DataFrame, when: str) -> str:
    """``+0.012 ± 0.058``, in milliseconds; of several runs from the least to the largest."""
    offsets = own[f"clock_offset_{when}_s"].dropna() * 1e3
    if offsets.empty:
        return MISSING
    ends = dict.fromkeys(f"{value:+.3f}" for value in (offsets.min(), offsets.max()))
    bound = own[f"clock_bound_{when}_s"].max() * 1e3
    return f"{' to '.join(ends)} ± {bound:.3f}"
