"""Points: figures of runs over their repeats."""

from pathlib import Path

import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.study import tables as rooms
from mqperf.study.stats.rules.cpu import over_the_window
from mqperf.study.stats.summary import run_figures


def test_a_printed_total_goes_before_the_sum_of_its_rounded_parts(root: Path) -> None:
    """An imported table shows the published CPU, to the last digit."""
    published = rooms.read(root / "data/published/2016")
    cpu = published["cpu"]
    printed = cpu[cpu["kind"] == "total"].set_index("run")["total_cores"]
    assert len(printed) > 0
    figures = run_figures(published).set_index("run")
    shown = figures.loc[printed.index, "cpu_total_cores"]
    pd.testing.assert_series_equal(shown, printed, check_names=False)


@pytest.mark.takes_long
def test_nodes_are_summed_where_nobody_printed_a_total() -> None:
    """The broker's CPU excludes load generators and host."""
    measured = tables(Shape(repeats=1))
    cpu = measured["cpu"][measured["cpu"]["kind"] == "broker"]
    figures = run_figures(measured).set_index("run")
    nodes = cpu.groupby("run")["sys_cores"].sum()
    assert dict(figures["cpu_sys_cores"]) == pytest.approx(dict(nodes))


def test_a_node_that_was_down_counts_with_both_of_its_lives(root: Path) -> None:
    """R2 was stopped for 3 s and restarted: the CPU of all nodes includes both of its processes.

    Its counters show 1.19 s of CPU until the stop and 1.66 s after the start, in 22 s.
    """
    read = rooms.read(root / "data/samples/faults")
    disturbed = read["outages"]["run"].iloc[0]
    window = over_the_window(read)
    cpu = window[window["run"].eq(disturbed) & window["kind"].eq("broker")]
    used = cpu.set_index("process")["total_cores"]
    assert used["R2"] == pytest.approx((1.19 + 1.66) / 22, rel=1e-4)
    figures = run_figures(read).set_index("run")
    assert figures["cpu_total_cores"][disturbed] == pytest.approx(used.sum())
    assert figures["cpu_total_cores"][disturbed] == pytest.approx(0.3845, abs=5e-5)
    assert figures["cpu_per_message_s"][disturbed] == pytest.approx(1313e-6, abs=5e-7)


@pytest.mark.takes_long
def test_without_a_node_the_cpu_of_all_is_not_known() -> None:
    """A node was sampled, but its CPU over the window is unknown."""
    measured = tables(Shape(repeats=1))
    cpu = measured["cpu"]
    run = cpu["run"].iloc[0]
    gone = cpu["process"].eq("Slave 1") & cpu["run"].eq(run)
    second = cpu.assign(scope=cpu["scope"].mask(gone, "interval"))
    figures = run_figures({**measured, "cpu": second}).set_index("run")
    empty = figures[["cpu_total_cores", "cpu_sys_cores", "cpu_per_message_s"]].isna()
    assert empty.all(axis="columns").to_dict() == {name: name == run for name in figures.index}
