"""Figures of hosts: clock offsets with bounds, CPU per host, and network traffic."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from mqperf.pages import figures
from mqperf.pages.figures import palette
from mqperf.study.tables import conform, empty
from mqperf_hosts.pages import panels, sheets

KEYS = {
    "point": "p",
    "system": "rabbitmq",
    "topology": "cs1ss2",
    "queues": "classic",
    "test_case": "rpc-call",
    "threads": 1,
    "repeat": 1,
}


def hosts() -> pd.DataFrame:
    """Two hosts in two runs; the second is 0.5 s ahead, and has no comparison after run b."""
    rows = [
        KEYS
        | {"run": run, "host": host}
        | {"clock_offset_before_s": ahead, "clock_bound_before_s": 0.0001}
        | {"clock_offset_after_s": None if (run, host) == ("b", "two") else ahead + 0.001}
        | {"clock_bound_after_s": 0.0002}
        for run in "ab"
        for host, ahead in (("one", 0.0), ("two", 0.5))
    ]
    return conform("hosts", pd.DataFrame(rows))


def cpu(hosts: tuple[str, ...] = ("one", "two")) -> pd.DataFrame:
    """A node and two processes of mqperf on each host, over two seconds."""
    rows = [
        KEYS
        | {"run": "a", "host": host, "process": process, "kind": kind, "scope": "interval"}
        | {"start_s": float(second), "end_s": second + 1.0, "total_cores": used}
        for number, host in enumerate(hosts)
        for process, kind, used in (
            (f"Slave {number}", "broker", 0.25),
            (f"agent {host}", "harness", 0.01),
            (f"psutil {host}", "harness", 0.02),
            (f"host {host}", "host", 1.5),
        )
        for second in range(2)
    ]
    return conform("cpu", pd.DataFrame(rows))


def network(interfaces: tuple[str, ...] = ("eth0",), **more: object) -> pd.DataFrame:
    """Traffic of two hosts, the second of which has little."""
    rows = [
        KEYS
        | {"run": "a", "host": host, "interface": name}
        | {"sent_bytes_s": rate, "received_bytes_s": rate * 2}
        | more
        for host, rate in (("one", 2e6), ("two", 2e3))
        for name in interfaces
    ]
    return conform("network", pd.DataFrame(rows))


def lines(axes: Axes) -> dict[str, list[float]]:
    return {str(line.get_label()): list(np.asarray(line.get_ydata())) for line in axes.lines}


def test_clocks_stand_at_their_host_in_milliseconds_with_bounds() -> None:
    """Each comparison of clocks is a mark with an error bar; a missing one has no mark."""
    axes = Figure().subplots()
    assert panels.clocks(hosts(), axes) is axes
    assert axes.get_title(loc="left").endswith(", ms")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["one", "two"]
    before, after = (group for group in axes.containers if isinstance(group, ErrorbarContainer))
    values = np.asarray(before.lines[0].get_ydata())
    assert values == pytest.approx([0, 500, 0, 500])
    assert np.isfinite(np.asarray(after.lines[0].get_ydata(), dtype=float)).sum() == 3
    positions = np.asarray(before.lines[0].get_xdata())
    assert np.round(positions).tolist() == [0, 1, 0, 1]
    bars = before.lines[2][0].get_segments()
    assert bars[1][:, 1] == pytest.approx([499.9, 500.1])


def test_processes_of_mqperf_are_one_line_and_the_machine_is_dashed() -> None:
    """mqperf's own processes are summed; the whole machine is a dashed line."""
    axes = Figure().subplots()
    assert figures.host_cpu(cpu(("one",)), axes) is axes
    drawn = lines(axes)
    assert list(drawn) == ["Slave 0", "mqperf", "whole machine"]
    assert drawn["mqperf"] == pytest.approx([3.0, 3.0])
    assert [line.get_linestyle() for line in axes.lines] == ["-", "-", "--"]


def test_each_host_has_a_panel_with_the_same_heights() -> None:
    """Nodes have the same colours in all panels, and the panels share a scale."""
    sheet = sheets.host_sheet(cpu())
    assert [axes.get_title(loc="left") for axes in sheet.axes] == [
        "one CPU total, %",
        "two CPU total, %",
    ]
    colours = [axes.lines[0].get_color() for axes in sheet.axes]
    assert colours == [shade.light for shade in palette.NODES[:2]]
    assert len({axes.get_ylim() for axes in sheet.axes}) == 1


def test_traffic_is_two_bars_for_each_interface() -> None:
    """Bars are in MB/s, by host and interface, with the value beside each."""
    axes = Figure().subplots()
    assert panels.traffic(network(), axes) is axes
    assert axes.get_title(loc="left") == "received and sent, MB/s"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["one eth0", "two eth0"]
    assert [text.get_text() for text in axes.texts] == ["2", "0.002", "4", "0.004"]


def test_panels_beside_each_other_keep_names_that_differ() -> None:
    """A panel has labels of its own if its interfaces differ from the other panel's."""
    titles = {"rpc-call": "CALL", "notify": "NOTIFY"}
    same = pd.concat([network(), network(run="b", test_case="notify")])
    other = pd.concat([network(), network(("lo", "eth0"), run="b", test_case="notify")])
    for rows, shown in ((same, False), (other, True)):
        sheet = sheets.traffic_sheet(rows, titles)
        assert sheet.axes[1].yaxis.get_tick_params()["labelleft"] is shown


@pytest.mark.parametrize(
    ("name", "draw"),
    [("hosts", panels.clocks), ("cpu", figures.host_cpu), ("network", panels.traffic)],
)
def test_an_empty_table_has_no_data(name: str, draw: Callable[[pd.DataFrame, Axes], Axes]) -> None:
    """An empty table gives a panel with the text "no data", not an error."""
    axes = draw(empty(name), Figure().subplots())
    assert [text.get_text() for text in axes.texts] == ["no data"]
