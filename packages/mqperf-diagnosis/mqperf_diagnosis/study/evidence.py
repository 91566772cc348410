"""The evidence on one run, which rules look at, and the causes that they yield."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from mqperf.study.stats.bottleneck import OF_RUNS, Full, full_by_run, rows_by_run
from mqperf.study.stats.rules.finding import each, measured, offered
from mqperf.study.stats.rules.stairs import judged_steps, used_cpu
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.tables import Tables

NOTHING = pd.DataFrame({"run": []})
"""Replaces a table of a package that is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A limit of a run: its name, the role, node or host where it is, and the figures that show it.

    ``share`` is how full that is, or for which share of the window it lasted.  ``test`` is a change
    that would show whether it is the cause.
    """

    name: str
    at: str
    share: float
    because: str
    test: str


@dataclass(frozen=True)
class Evidence:
    """A measured run: its row of ``measured``, the rate it was offered, and its rows by table.

    ``kept`` says whether it kept that rate; without a rate it is as fast as it can.
    """

    run: Any
    offered_msg_s: float
    kept: bool
    cpu: pd.DataFrame
    full: Full
    rows: Callable[[str], pd.DataFrame]

    @cached_property
    def waits(self) -> pd.DataFrame:
        """The rows of the table ``waits``; none without the probe."""
        return self.rows("waits")

    def figures(self, quantity: str) -> pd.DataFrame:
        """The rows of ``waits`` with this quantity."""
        waits = self.waits
        return waits if waits.empty else waits[waits["quantity"] == quantity]

    def reached(self, quantity: str, least: float) -> pd.DataFrame:
        """The rows of ``waits`` with this quantity where it is ``least`` or more."""
        figures = self.figures(quantity)
        return figures if figures.empty else figures[figures["value"].ge(least)]

    def figure(self, process: str, quantity: str, thing: str | None = None) -> float | None:
        """One figure of ``waits``; None where it was not recorded."""
        rows = self.figures(quantity)
        rows = rows[rows["process"].eq(process)]
        rows = rows if thing is None else rows[rows["object"].eq(thing)]
        return float(rows["value"].iloc[0]) if len(rows) else None

    def parameter(self, name: str) -> Any:  # noqa: ANN401 (of whatever type the column is)
        """The value of a parameter of the load; None where the plan does not set it."""
        value = getattr(self.run, name, None)
        return None if value is None or pd.isna(value) else value

    @cached_property
    def waited(self) -> float | None:
        """Share of the time in which threads of the run were ready, but waited for a core.

        None where it was not recorded.
        """
        if self.waits.empty:
            return None
        processes = self.cpu.loc[self.cpu["kind"].isin(OF_RUNS), "process"]
        rows = self.waits[self.waits["process"].isin(processes) & self.waits["object"].eq("all")]
        used, waited = (
            rows.loc[rows["quantity"].eq(name), "value"].sum() for name in ("used", "waited")
        )
        return float(waited / (used + waited)) if used + waited > 0 else None


def keeping(tables: Tables) -> set[str]:
    """The runs that kept the offered rate, or every step of a staircase."""
    runs = measured(tables)
    steps = judged_steps(runs, tables["rate_steps"])
    all_kept = steps.groupby("run")["kept"].min().eq(1)
    finished = runs["throughput_msg_s"] >= (1 - KEEPS_UP) * _offered_deliveries(runs)
    kept = runs["run"].map(all_kept).astype("boolean").fillna(finished)
    return {*runs.loc[kept.fillna(value=False), "run"]}


def _offered_deliveries(runs: pd.DataFrame) -> pd.Series:
    """The deliveries a second that each run was offered, the mean of cycles and steps.

    NaN for runs that send as fast as they can.
    """
    return runs["offered_rate_msg_s"].fillna(offered(runs)) * runs["each_has"]


def evidence(tables: Tables) -> Iterator[Evidence]:
    """Yield the evidence on every measured run."""
    frame = measured(tables)
    rates, kept = _offered_deliveries(frame), keeping(tables)
    cpu, full = rows_by_run(used_cpu(tables)), full_by_run(tables)
    names = ("waits", "links", "events", "quotas", "node_summary", "latency")
    tables_by_run = {name: rows_by_run(tables.get(name, NOTHING)) for name in names}
    for run, rate in zip(each(frame), rates, strict=True):
        rows = _rows_of(tables_by_run, run.run)
        yield Evidence(run, rate, run.run in kept, cpu(run.run), full(run.run), rows)


def _rows_of(
    by_table: dict[str, Callable[[str], pd.DataFrame]], run: str
) -> Callable[[str], pd.DataFrame]:
    return lambda name: by_table[name](run)


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.0f} %"
