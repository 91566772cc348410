"""Percentiles of latency are given only if enough messages are beyond them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import samples
from counted import converted
from factory import Shape, tables
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from mqperf.pages import figures
from mqperf.pages.questions.tops_table import table
from mqperf.pages.report.build import build
from mqperf.pages.report.tops import tops
from mqperf.pages.report.words import layouts
from mqperf.plan import PERCENTILES
from mqperf.record import runs
from mqperf.record.streams.stream import InstantLatencies
from mqperf.record.streams.telling import BEYOND
from mqperf.study import tables as study_tables
from mqperf.study.stats.compare import compare
from mqperf.study.stats.summary import points
from mqperf.study.tables.percentiles import percentiles
from mqperf.study.tables.within_run import latency_figures

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/runs/rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"


def latencies(values: np.ndarray) -> InstantLatencies:
    """Latencies within one second."""
    return InstantLatencies(values, np.zeros(len(values), dtype=np.int64), 1)


@given(st.integers(0, 30_000))
def test_ten_messages_are_beyond_each(count: int) -> None:
    """No percentile has fewer, and none with as many is left out."""
    rows = list(percentiles("one-way", latencies(np.arange(count) / 1e6)))
    levels = [row["percentile"] for row in rows]
    assert levels == sorted(set(levels))
    assert all(round(count * (1 - level), 6) >= BEYOND for level in levels)
    assert bool(levels) == (count >= 2 * BEYOND)
    for level in (0.5, 0.9, 0.99, 0.999):
        assert (level in levels) == (round(count * (1 - level), 6) >= BEYOND)


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (15, []),
        (20, ["latency_p50_s"]),
        (999, ["latency_p50_s", "latency_p90_s", "latency_p95_s"]),
        (1000, ["latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s"]),
        (10_000, list(PERCENTILES)),
    ],
)
def test_a_run_has_percentiles_with_enough_messages(count: int, names: list[str]) -> None:
    """Ten messages must be beyond each; mean and maximum are always given."""
    latency = latency_figures(latencies(np.arange(count) / 1e6))
    assert [name for name in PERCENTILES if not np.isnan(latency[name])] == names
    assert latency["latency_max_s"] == (count - 1) / 1e6


def test_a_point_has_the_percentiles_of_all_repeats() -> None:
    """A percentile that one repeat lacks is missing, not averaged over the others."""
    rows = tables(Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), repeats=3))
    latency = rows["latency"].copy()
    few = latency.index[0]
    latency.loc[few, "latency_p99_s"] = np.nan
    by_point = points({**rows, "latency": latency}).set_index("point")
    point = latency.loc[few, "point"]
    assert np.isnan(by_point.loc[point, "latency_p99_s"])
    assert by_point.loc[point, "latency_p95_s"] > 0
    assert by_point.drop(point)["latency_p99_s"].notna().all()


@pytest.mark.starts_programs
def test_what_a_person_reads_of_few_creations_has_no_percentile_of_them(tmp_path: Path) -> None:
    """Page, answer, factors and comparison of runs with 10 to 100 creations."""
    frames = samples.complete(ROOT / "data/samples/wan")
    assert frames["latency"]["samples"].max() <= 100
    assert set(frames["factors"]["figure"]) == {
        *("throughput_msg_s", "latency_mean_s", "cpu_per_message_s")
    }
    build(frames, tmp_path / "out", title="few", html=False)
    [page] = (tmp_path / "out").glob("rabbitmq/*/index.rst")
    text = page.read_text()
    assert "p99.9, ms" not in text.split("Background load")[0]
    assert "10 messages or more of each run" in " ".join(text.split())
    rows = table(frames, tops(frames, layouts(frames["runs"]))).rows
    assert rows is not None
    assert rows["latency_p99_s"].isna().all()
    assert set(compare(frames, frames)["figure"]) == set(frames["factors"]["figure"])


def test_they_are_those_of_all_messages() -> None:
    """By linear interpolation, as in the tables."""
    values = np.random.default_rng(1).exponential(0.01, 5000)
    rows = list(percentiles("round-trip", latencies(values)))
    expected = np.quantile(values, [row["percentile"] for row in rows])
    assert [row["latency_s"] for row in rows] == pytest.approx(list(expected))
    assert {row["samples"] for row in rows} == {5000}
    assert rows[-1]["percentile"] == 0.998


def test_both_kinds_of_record_agree(tmp_path: Path) -> None:
    """Counts are accurate to three digits."""
    recorded = [run for run in runs(SAMPLE.parent) if run.path == SAMPLE]
    exact = study_tables.of_runs(recorded)["percentiles"]
    converted(SAMPLE, tmp_path / SAMPLE.name)
    counted = study_tables.of_runs(runs(tmp_path))["percentiles"]
    assert len(exact) > 10
    assert list(counted["percentile"]) == list(exact["percentile"])
    assert counted["latency_s"].tolist() == pytest.approx(exact["latency_s"].tolist(), rel=5e-4)


def curves(*samples: int) -> pd.DataFrame:
    """Percentiles of two points, with this number of messages in each repeat."""
    parts = []
    for rate in (1000.0, 5000.0):
        for repeat, count in enumerate(samples, 1):
            rows = percentiles("one-way", latencies(np.arange(count) / count * repeat / rate))
            keys = {"run": f"{rate}-{repeat}", "point": f"{rate}", "threads": 1}
            sweep = {"system": "rabbitmq", "topology": "cmsm", "queues": "classic"}
            case = {"test_case": "publish", "rate_msg_s": rate}
            parts += [{**keys, **sweep, **case, **row} for row in rows]
    return pd.DataFrame(parts)


def test_each_point_has_a_curve_up_to_its_last_percentile() -> None:
    """With 10,000 messages lines and axis end at 99.9 %."""
    rows = curves(10_000)
    axes = figures.percentiles(rows, Figure().subplots(), subject="one-way")
    assert [line.get_label() for line in axes.lines] == [
        "offered rate 1000 msg/sec",
        "offered rate 5000 msg/sec",
    ]
    assert axes.lines[0].get_xdata()[-1] == pytest.approx(3.0)  # type: ignore[index]
    axes.figure.canvas.draw()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["50", "90", "99", "99.9"]
    assert axes.get_title(loc="left") == "one-way latency, ms"
    assert axes.get_yscale() == "log"


def test_repeats_are_averaged_up_to_the_shortest() -> None:
    """A repeat with fewer messages shortens the curve, which would jump otherwise."""
    curve = figures.common(curves(10_000, 1_000))
    assert curve["percentile"].max() == 0.99
    median = curve[(curve["point"] == "1000.0") & (curve["percentile"] == 0.5)]["latency_s"]
    assert median.tolist() == pytest.approx([0.75e-3], rel=1e-3)


def test_a_panel_for_each_of_what_else_varies() -> None:
    """Lines are rates; each type of exchange has a panel, three in two rows."""
    both = [curves(1000).assign(exchange_type=kind) for kind in ("direct", "topic", "fanout")]
    rows = pd.concat(both)
    rows["point"] += rows["exchange_type"]
    rows["run"] += rows["exchange_type"]
    third = rows.assign(rate_msg_s=rows["rate_msg_s"] * 7, point=rows["point"] + "x")
    more = rows.assign(rate_msg_s=rows["rate_msg_s"] * 3, point=rows["point"] + "y")
    every = pd.concat([rows, third, more])
    failed = every["exchange_type"].eq("topic") & every["rate_msg_s"].eq(3000.0)
    sheet = figures.percentile_sheet(every[~failed], stream="one-way")
    shown = [axes for axes in sheet.axes if axes.get_visible()]
    assert len(shown) == 3
    assert shown[0].get_title(loc="left") == "exchange type direct: one-way latency, ms"
    colours = [{line.get_label(): line.get_color() for line in axes.lines} for axes in shown]
    assert len(colours[0]) == 6
    assert len(colours[2]) == 5
    assert colours[2].items() <= colours[0].items()


def test_an_empty_table_is_drawn_as_no_data() -> None:
    """Runs with too few messages give a panel "no data"."""
    axes = figures.percentiles(curves(1000).head(0), Figure().subplots())
    assert [text.get_text() for text in axes.texts] == ["no data"]


@pytest.mark.starts_programs
def test_pages_of_closed_loops_are_as_they_were(tmp_path: Path) -> None:
    """Without offered rates pages have neither percentiles nor CPU per message."""
    frames = tables(Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",)))
    build(frames, tmp_path / "out", title="as it was", html=False)
    folder = tmp_path / "out" / "rabbitmq" / "cmsm"
    text = "".join(file.read_text() for file in folder.rglob("*") if file.is_file())
    assert "by percentile" not in text
    assert "cpu_per_message" not in text
