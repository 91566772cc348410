"""Points: figures of the runs over their repeats."""

from pathlib import Path

import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.study import tables as rooms
from mqperf.study.stats.summary import run_figures


def test_a_printed_total_goes_before_the_sum_of_its_rounded_parts(root: Path) -> None:
    """A republished table shows the CPU that was published, to the last digit."""
    published = rooms.read(root / "data/published/2016")
    cpu = published["cpu"]
    printed = cpu[cpu["kind"] == "total"].set_index("run")["total_cores"]
    assert len(printed) > 0
    figures = run_figures(published).set_index("run")
    shown = figures.loc[printed.index, "cpu_total_cores"]
    pd.testing.assert_series_equal(shown, printed, check_names=False)


def test_nodes_are_summed_where_nobody_printed_a_total() -> None:
    """Load generators and the host are no part of the broker's CPU."""
    measured = tables(Shape(repeats=1))
    cpu = measured["cpu"][measured["cpu"]["kind"] == "broker"]
    figures = run_figures(measured).set_index("run")
    nodes = cpu.groupby("run")["sys_cores"].sum()
    assert dict(figures["cpu_sys_cores"]) == pytest.approx(dict(nodes))
