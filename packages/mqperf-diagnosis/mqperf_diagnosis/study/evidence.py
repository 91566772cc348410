"""What is known of one run, as rules look at it, and what a rule gives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from mqperf.study.stats.rules.finding import each, measured, offered
from mqperf.study.stats.rules.stairs import judged_steps, used_cpu
from mqperf.study.stats.rules.tester import hosts_used
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.tables import Tables

NOTHING = pd.DataFrame({"run": []})
"""Of a table that is there with its package only."""

RUNS_OWN = ("broker", "client", "server", "background")
"""Kinds of processes whose wait for a core is a wait of the load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What limits a run: its name, the role, node or host where it is, and the figures that say so.

    ``share`` tells how full that is, or for which share of the window it lasted.  ``test`` is what
    would show whether it is the cause.
    """

    name: str
    at: str
    share: float
    because: str
    test: str


@dataclass(frozen=True)
class Evidence:
    """A measured run: its row of ``measured``, the rate it was offered, and its rows by table.

    ``kept`` says whether it kept that; without one it is as fast as it can.
    """

    run: Any
    offered_msg_s: float
    kept: bool
    cpu: pd.DataFrame
    hosts: pd.DataFrame
    rows: Callable[[str], pd.DataFrame]

    @cached_property
    def waits(self) -> pd.DataFrame:
        """What the probe of waits recorded; no row without it."""
        return self.rows("waits")

    def figures(self, quantity: str) -> pd.DataFrame:
        """The rows of the probe that tell this quantity."""
        waits = self.waits
        return waits if waits.empty else waits[waits["quantity"] == quantity]

    def figure(self, process: str, quantity: str, thing: str | None = None) -> float | None:
        """One figure of the probe; None where it was not recorded."""
        rows = self.figures(quantity)
        rows = rows[rows["process"].eq(process)]
        rows = rows if thing is None else rows[rows["object"].eq(thing)]
        return float(rows["value"].iloc[0]) if len(rows) else None

    def parameter(self, name: str) -> Any:  # noqa: ANN401 (of whatever type the column is)
        """What the plan asked of the load; None where it asked nothing."""
        value = getattr(self.run, name, None)
        return None if value is None or pd.isna(value) else value

    @cached_property
    def waited(self) -> float | None:
        """Share of the time for which threads of the run wanted a core that they waited for one.

        None where it was not recorded.
        """
        if self.waits.empty:
            return None
        processes = self.cpu.loc[self.cpu["kind"].isin(RUNS_OWN), "process"]
        rows = self.waits[self.waits["process"].isin(processes) & self.waits["object"].eq("all")]
        used, waited = (
            rows.loc[rows["quantity"].eq(name), "value"].sum() for name in ("used", "waited")
        )
        return float(waited / (used + waited)) if used + waited > 0 else None


def keeping(tables: Tables) -> set[str]:
    """The runs that kept the rate that they were offered, of a staircase every step of it."""
    runs = measured(tables)
    steps = judged_steps(runs, tables["rate_steps"])
    all_kept = steps.groupby("run")["kept"].min().eq(1)
    finished = runs["throughput_msg_s"] >= (1 - KEEPS_UP) * _rates_of(runs)
    kept = runs["run"].map(all_kept).astype("boolean").fillna(finished)
    return {*runs.loc[kept.fillna(value=False), "run"]}


def _rates_of(runs: pd.DataFrame) -> pd.Series:
    """The deliveries a second that each run was offered, the mean of cycles and steps.

    NaN for as fast as it could.
    """
    return runs["offered_rate_msg_s"].fillna(offered(runs)) * runs["each_has"]


def evidence(tables: Tables) -> Iterator[Evidence]:
    """That of every measured run."""
    frame = measured(tables)
    rates, kept = _rates_of(frame), keeping(tables)
    cpu, hosts = _by_run(used_cpu(tables)), _by_run(hosts_used(tables))
    names = ("runs", "waits", "network", "links", "events", "quotas", "node_summary", "latency")
    others = {name: _by_run(tables.get(name, NOTHING)) for name in names}
    for run, rate in zip(each(frame), rates, strict=True):
        of_run = (cpu(run.run), hosts(run.run), _rows_of(others, run.run))
        yield Evidence(run, rate, run.run in kept, *of_run)


def _rows_of(
    by_table: dict[str, Callable[[str], pd.DataFrame]], run: str
) -> Callable[[str], pd.DataFrame]:
    return lambda name: by_table[name](run)


def _by_run(frame: pd.DataFrame) -> Callable[[str], pd.DataFrame]:
    places, none = frame.groupby("run").indices, frame.iloc[:0]
    return lambda run: frame.iloc[places[run]] if run in places else none


def percent(share: float) -> str:
    """A share as people read it."""
    return f"{100 * share:.0f} %"
