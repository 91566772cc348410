"""What the notebook of the wide-area network shows, on its recorded sample."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import samples
from IPython.display import Markdown
from matplotlib.figure import Figure
from viewed import contents

from mqperf.pages import figures, notebook, run_line
from mqperf.pages.figures import panels
from mqperf.pages.figures.curves import shades_of
from mqperf.pages.questions.tops_table import table
from mqperf.pages.report.build import build
from mqperf.pages.report.tops import tops
from mqperf.pages.report.words import layouts
from mqperf.record import runs
from mqperf.study import stats
from mqperf.study.tables import Tables, with_parameters

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/wan"
CONDITIONS = ("delay 100 ms", "delay 100 ms, loss 5 %")


@pytest.fixture(scope="module")
def found() -> Tables:
    return samples.complete(SAMPLE)


def test_the_sample_is_sound(found: Tables) -> None:
    """Neither the link, the planned disconnection nor the background load raises a doubt."""
    assert found["doubts"].empty
    assert len(found["runs"]) == len(found["links"]) == 5


def test_distance_prolongs_a_creation(found: Tables) -> None:
    """A creation has eleven round trips of 200 ms, and losses add more; the factors show it."""
    ratio = found["factors"].set_index(["condition", "figure"])["ratio"]
    near, lossy = (ratio[name, "latency_mean_s"] for name in CONDITIONS)
    assert 3 < near < lossy
    latency = found["latency"].set_index("point")["latency_mean_s"]
    runs = found["runs"].set_index("condition")["point"]
    difference = latency[runs["delay 100 ms"]] - latency[runs["undisturbed"]]
    assert 22 * 0.1 < difference < 30 * 0.1


def test_a_disconnection_is_an_outage(found: Tables) -> None:
    """The link was down for 5 s; nothing finished for longer, and then throughput recovered."""
    [outage] = found["outages"].to_dict("records")
    assert outage["node"] == "the link"
    assert outage["downtime_s"] == pytest.approx(5, abs=0.05)
    assert 5 < outage["outage_s"] < 10
    assert outage["recovery_s"] < 5


def test_steps_stand_beside_conditions(found: Tables) -> None:
    """Each step has a row, and what is between them has one; calls over the link take longer."""
    shown = notebook.table(found, "steps").set_index("step")
    assert len(shown) == 19
    save = shown.loc["Instance.save (building)"]
    far, near = (
        float(save[f"condition {name}, ms (share)"].split()[0])
        for name in ("delay 100 ms", "undisturbed")
    )
    assert far > 200 > near


def test_links_are_shown_as_planned_and_as_measured(found: Tables) -> None:
    """Every run has a row, and the measured delay is within 1 ms of the planned one."""
    shown = notebook.table(found, "links")
    assert len(shown) == 5
    assert shown.loc[shown["delay, ms"] == 100, "delay before, ms"].between(99, 101).all()


def test_factors_are_shown_with_a_figure(found: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """A title, a table and a sheet for each layout."""
    shown: list[object] = []
    monkeypatch.setattr(notebook, "display", lambda *parts: shown.extend(parts))
    notebook.show(found, "factors", "rpc-chain")
    title, _, sheet, table = shown
    assert isinstance(title, Markdown)
    assert table.index.tolist()[0] == "delay 100 ms"  # type: ignore[attr-defined]
    assert len(sheet.figure().axes) == 2  # type: ignore[attr-defined]


def test_the_answer_counts_creations() -> None:
    """Creations are no messages."""
    assert "creations/sec" in "\n".join(run_line.of_run(run) for run in runs(SAMPLE))


STRESS = "stress of 1,000 msg/s"


@pytest.fixture(scope="module")
def renamed() -> Tables:
    """The same tables with a condition whose name has the unit of messages, ``msg/sec``."""
    read = samples.read(SAMPLE)
    return stats.complete(
        {
            name: frame.assign(condition=frame["condition"].replace(STRESS, f"{STRESS}ec"))
            if "condition" in frame.columns
            else frame
            for name, frame in read.items()
        }
    )


@pytest.mark.starts_programs
def test_every_number_of_a_page_is_in_its_own_unit(renamed: Tables, tmp_path: Path) -> None:
    """Creations have their unit; background loads and names of conditions keep theirs."""
    build(renamed, tmp_path / "out", title="WAN", html=False)
    [page] = (tmp_path / "out").glob("rabbitmq/*/index.rst")
    texts = {path.name: path.read_text() for path in page.parent.glob("*.svg")}
    text = texts["page"] = page.read_text()
    for name, shown in texts.items():
        assert "1,000 creations" not in shown, name
    throughput, stress = text.index("throughput, creations/sec"), text.index("\nBackground load\n")
    assert throughput < stress
    assert "throughput, msg/sec" in text[stress:]
    assert "throughput, msg/sec" not in text[:stress]
    assert any(f"{STRESS}ec" in shown and "creations/sec" in shown for shown in texts.values())


def test_overviews_have_units_of_their_own_for_each_test_case(found: Tables) -> None:
    """If another test case counts messages, both have their own units."""
    calls = found["points"].assign(test_case="rpc-call")
    both = {**found, "points": pd.concat([found["points"], calls], ignore_index=True)}
    best = tops(both, layouts(found["runs"]))
    sheet = figures.top_sheet(best, {"rpc-call": "CALL", "rpc-chain": "CHAIN"})
    entries = sheet.axes[0].get_legend_handles_labels()[1]
    assert [entry for entry in entries if "/sec" in entry] == [
        "CALL, msg/sec",
        "CHAIN, creations/sec",
    ]
    overview = table(both, best)
    assert overview.rows is not None
    assert [*overview.rows["case"]] == ["CALL, msg", "CHAIN, creations"]
    assert overview.columns["sustained_throughput_msg_s"] == "sustained, msg or creations/sec"
    sheet = figures.topology_sheet(both["points"], {"rpc-call": "CALL", "rpc-chain": "CHAIN"})
    titles = [panel.get_title(loc="left") for panel in sheet.axes]
    assert titles == ["CALL throughput, msg/sec", "CHAIN throughput, creations/sec"]


def test_factors_without_an_interval_say_why(found: Tables) -> None:
    """Single runs without an interval within the run are named; no bound is below zero."""
    [content] = contents(found, "factors", "rpc-chain")
    words = " ".join(content.words)
    assert "Behind it stands its 95 % interval over the repeats" not in words
    assert "latency under *delay 100 ms*, *delay 100 ms, loss 5 %* and *disconnection" in words
    assert "measured once, and with too short or unsteady a window, or too few creations" in words
    rates = found["messages"].set_index("run")
    assert rates["throughput_msg_s_within_low"].min() == 0
    rows = found["factors"]
    bounded = rows[rows["ratio_low"].notna()]
    assert len(bounded) > 0
    assert (bounded["ratio_low"] > 0).all()


def test_a_factor_figure_cuts_no_mark_and_joins_no_conditions(found: Tables) -> None:
    """Dots and their intervals are inside the axes, each alone in the row of its condition."""
    for panel in figures.factor_sheet(found["factors"]).axes:
        low, high = np.log(panel.get_xlim())
        rows = [drawn for drawn in panel.lines if drawn.get_marker() == "o"]
        assert len(rows) == 4
        for drawn in panel.lines:
            if len(set(np.asarray(drawn.get_xdata()))) == 1 and drawn not in rows:
                continue  # the line at 1
            places = np.log(np.asarray(drawn.get_xdata(), dtype=float))
            assert len(set(np.asarray(drawn.get_ydata()))) == 1
            assert places.min() - low > 0.02 * (high - low)
            assert high - places.max() > 0.02 * (high - low)


def test_a_condition_has_one_colour_in_all_figures(found: Tables) -> None:
    """Its place in the plan gives the colour, whatever else a figure shows."""
    expected = {
        name: shade.light for name, shade in shades_of(found["points"], "condition").items()
    }
    assert len(set(expected.values())) == 5
    intervals = with_parameters(found["intervals"], found["runs"])
    (panel,) = figures.time_sheet(intervals, found["outages"]).axes
    drawn = {str(line.get_label()): line.get_color() for line in panel.lines}
    assert {name.removeprefix("4 threads, "): shade for name, shade in drawn.items()} == expected
    for name, shade in expected.items():
        alone = intervals[intervals["condition"] == name.removeprefix("condition ")]
        panel = Figure().add_subplot()
        panels.over_time(alone, panel, found["outages"][:0], among=intervals)
        assert {line.get_color() for line in panel.lines} == {shade}
