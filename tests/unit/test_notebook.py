"""Notebooks with several systems, and with points that have equal numbers of threads."""

import dataclasses
from pathlib import Path

import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.pages import figures, notebook
from mqperf.pages.sections.points import uncertainty
from mqperf.plan.columns import COMPUTED
from mqperf.study.stats import complete
from mqperf.study.tables import Tables, conform, read

pytestmark = pytest.mark.takes_long


@pytest.fixture(scope="module")
def both() -> Tables:
    """Two systems with one layout, the second with twice the CPU; 5 x 2 beside 10 x 1."""
    shape = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(10,))
    first, second = tables(shape), tables(dataclasses.replace(shape, system="other", title="Other"))
    joined = {
        name: conform(name, pd.concat([first[name], second[name]]))
        for name in first
        if name not in {*COMPUTED, "doubts"}
    }
    joined["cpu"].loc[joined["cpu"]["system"] == "other", "total_cores"] *= 2
    split = {name: frame[frame["system"] == "other"].copy() for name, frame in joined.items()}
    for frame in split.values():
        frame["point"], frame["run"] = "split", frame["run"] + "-split"
    split["runs"]["green_threads"], split["runs"]["processes"] = 5, 2
    split["runs"]["started"] += pd.Timedelta(hours=6)
    all_three = {name: conform(name, pd.concat([joined[name], split[name]])) for name in joined}
    return complete(all_three)


def test_latencies_that_clocks_hide_are_marked(both: Tables) -> None:
    """Tables have a column of uncertainty, and figures a note, only if there is any."""
    column = "clock uncertainty, ms"
    assert column not in notebook.table(both, "points", "rpc-call")
    latency = both["latency"]
    for share, noted in ((0.01, False), (0.5, True)):
        unsure = latency.assign(latency_uncertainty_s=share * latency["latency_p50_s"])
        frames = {**both, "latency": conform("latency", unsure)}
        assert notebook.table(frames, "points", "rpc-call")[column].gt(0).all()
        points = frames["points"].assign(
            **uncertainty(frames["latency"], frames["points"]["point"])
        )
        sheet = figures.sweep_sheet(points)
        texts = [text.get_text() for axes in sheet.axes for text in axes.texts]
        assert any("by clocks" in text for text in texts) == noted


def test_creations_are_no_messages(root: Path) -> None:
    """Tables and figures have the unit of the test case."""
    frames = complete(read(root / "data/samples/wan"))
    table = notebook.table(frames, "points", "rpc-chain")
    assert "throughput, creations/sec" in table
    titles = [axes.get_title("left") for axes in notebook.sweep_of(frames).axes]
    assert titles[0] == "throughput, creations/sec"


def test_long_names_below_an_axis_do_not_run_into_each_other(root: Path) -> None:
    """Long names of conditions are rotated."""
    sheet = notebook.sweep_of(complete(read(root / "data/samples/wan")))
    assert all(label.get_rotation() for label in sheet.axes[0].get_xticklabels())


def test_systems_are_never_averaged(both: Tables) -> None:
    """CPU of two brokers is in two rows, even if their layouts are equal."""
    used = notebook.table(both, "nodes", "rpc-call")["Master total, %"]
    assert len(used) == 3
    assert used["other"].iloc[0] == pytest.approx(2 * used["rabbitmq"].item())


def test_points_of_equal_threads_differ_by_processes(both: Tables) -> None:
    """10 threads in one process and 2 x 5 are two points with two rows."""
    shown = notebook.table(both, "points", "rpc-call")
    assert len(shown) == 3
    assert {*shown["processes"]["other"]} == {1, 2}
    counts = notebook.table(both, "messages", "rpc-call")
    assert {*counts["processes"]["other"]} == {1, 2}


def test_sheets_are_of_one_system_each(both: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    """Every sheet has the title of its system."""
    notebook.show(both, "nodes", "rpc-call")
    assert capsys.readouterr().out.count("Drawing(") == 2
