"""The figure of one run over time: its panels, axes and marks."""

import json
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import samples
from bs4 import BeautifulSoup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import mqperf
from mqperf.base.errors import MqperfError
from mqperf.pages import figures
from mqperf.pages.figures import palette, run_lanes, run_seconds
from mqperf.pages.figures.svg import EXPLORE, as_svg
from mqperf.pages.one_run import MeasuredRun
from mqperf.pages.report import explorers, single_file
from mqperf.pages.report.build import publish
from mqperf.pages.report.single_file import fold
from mqperf.study.stats.instants import doubted_times
from mqperf.study.tables import Tables, latency_map

pytestmark = pytest.mark.takes_long

SVG = "{http://www.w3.org/2000/svg}"
SAMPLES = Path(__file__).parents[2] / "data/samples"
PANELS = {
    ("faults", "r1-4ffa99dd"): ["throughput, msg/sec", "latency, ms", "CPU total, %", "events"],
    ("runs", "r1-19b55f1a"): ["throughput, msg/sec", "latency, ms", "CPU total, %", "events"],
    ("hosts", "r1-5be107d0"): [
        *("throughput, msg/sec", "latency, ms"),
        *(f"h{number} CPU total, %" for number in range(1, 6)),
        "events",
    ],
    ("inside/transfers", "r1-613cc594"): [
        *("throughput, msg/sec", "latency, ms", "CPU total, %"),
        *("waiting, msg", "memory, MiB", "garbage collection, ms", "events"),
    ],
}
"""Samples with counts and single messages, an action, several hosts, and node metrics."""


@cache
def read(folder: str) -> mqperf.Results:
    return samples.results(SAMPLES / folder)


def measured(folder: str, name: str) -> MeasuredRun:
    return read(folder).run(name)


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def drawn(figure: Figure) -> ET.Element:
    svg = as_svg(figure, "run", title="A run", description="What it shows.")
    return ET.fromstring(svg)  # noqa: S314


def hover_texts(figure: Figure) -> list[str]:
    return [str(element.text) for element in drawn(figure).iter(f"{SVG}title")][1:]


@pytest.mark.parametrize("sample", PANELS, ids="/".join)
def test_panels_are_those_of_what_was_recorded(sample: tuple[str, str]) -> None:
    """All panels have data, and share the limits of the time axis."""
    figure = measured(*sample).plot()
    assert titles(figure) == PANELS[sample]
    assert all(axes.has_data() for axes in figure.axes)
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert [axes.get_xlabel() for axes in figure.axes if axes.get_xlabel()] == ["time, s"]
    assert json.loads(str(drawn(figure).get("data-time"))) == list(figure.axes[0].get_xlim())


def test_panels_stand_below_each_other() -> None:
    """They are aligned and do not overlap."""
    boxes = [axes.get_position() for axes in measured("hosts", "r1-5be107d0").plot().axes]
    assert len({(round(box.x0, 9), round(box.x1, 9)) for box in boxes}) == 1
    assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))
    assert boxes[-1].y0 > 0
    assert boxes[0].y1 < 1


def line(axes: Axes, label: str) -> tuple[np.ndarray, np.ndarray]:
    [curve] = [candidate for candidate in axes.lines if candidate.get_label() == label]
    x, y = curve.get_data()
    return np.asarray(x, dtype=float), np.asarray(y, dtype=float)


def test_lines_have_the_numbers_of_the_tables() -> None:
    """A second is drawn at its middle; one without finished messages has no latency."""
    run = measured("faults", "r1-4ffa99dd")
    throughput, latency, cpu, _ = run.plot().axes
    seconds = run.tables["intervals"]
    received = seconds[seconds["stream"] == "received"].set_index("start_s")
    x, y = line(throughput, "finished")
    assert x.tolist() == [start + 0.5 for start in received.index]
    assert y.tolist() == received["count"].tolist()
    x, y = line(latency, "largest")
    assert np.isnan(y).sum() == received["count"].eq(0).sum() > 0
    assert np.nanmax(y) == pytest.approx(1e3 * received["latency_max_s"].max())
    x, y = line(cpu, "R2")
    assert np.isnan(y).sum() == 1, "a line across the time in which it was stopped"
    assert 6 < x[np.isnan(y)][0] < 12


def test_actions_are_shaded_in_every_panel() -> None:
    """From their observed beginning to their observed end."""
    figure = measured("faults", "r1-4ffa99dd").plot()
    for axes in figure.axes:
        spans = [
            patch.get_bbox().intervalx.round(2).tolist()  # type: ignore[attr-defined]
            for patch in axes.patches
            if patch.get_zorder() == 0.6
        ]
        assert spans == [[6.0, 9.01]]


def test_percentiles_are_those_of_the_table() -> None:
    """The axis is logarithmic in the share beyond the percentile."""
    run = measured("faults", "r1-4ffa99dd")
    [axes] = run.percentiles().axes
    rows = run.tables["percentiles"].sort_values("percentile")
    x, y = (np.asarray(values, dtype=float) for values in axes.lines[0].get_data())
    assert x.tolist() == pytest.approx((-np.log10(1 - rows["percentile"])).tolist())
    assert y.tolist() == pytest.approx((1e3 * rows["latency_s"]).tolist())


def test_a_run_has_its_facts_tables_and_doubts() -> None:
    """A run is found by its name or a unique ending; other names are errors."""
    results = read("runs")
    run = results.run("r1-19b55f1a")
    assert run.name == "rabbitmq-cmsm-classic-rpc-cast-t0005-p1-r1-19b55f1a"
    assert results.run(run.name).name == run.name
    assert {"backlog", "tester-saturated"} <= set(run.doubts["kind"])
    assert run.facts["threads"] == 5
    assert "tester-saturated" in repr(run)
    assert "RabbitMQ" in run._repr_html_()
    assert len(run.tables["messages"]) == 1
    with pytest.raises(MqperfError, match=r"no run 'x'; there are 24: .*, \.\.\."):
        results.run("x")
    with pytest.raises(MqperfError, match="24 runs end in ''"):
        results.run("")


def test_a_failed_run_is_not_drawn(tmp_path: Path) -> None:
    """The error has the reason of the failure."""
    copy = shutil.copytree(SAMPLES / "runs", tmp_path / "runs")
    (failed,) = copy.glob("*-19b55f1a")
    (failed / "DONE").unlink(missing_ok=True)
    results = read("runs")
    runs = results.complete["runs"].copy()
    of_run = runs["run"].str.endswith("19b55f1a")
    runs.loc[of_run, ["status", "failure"]] = ["failed", "the broker ended"]
    run = MeasuredRun(copy, {**results.complete, "runs": runs}, failed.name)
    for draw in (run.plot, run.percentiles):
        with pytest.raises(MqperfError, match="did not complete: the broker ended"):
            draw()


def doubted(name: str, **changed: pd.DataFrame) -> tuple[Tables, str]:
    """Tables of the faults with these rows replaced, and the name of the disturbed run."""
    frames = dict(read("faults").complete) | changed
    [run] = [label for label in frames["runs"]["run"] if label.endswith("4ffa99dd")]
    row = {"run": run, "kind": name, "text": f"the text of {name}"}
    return {**frames, "doubts": pd.DataFrame([row], columns=frames["doubts"].columns)}, run


def test_a_doubt_stands_where_it_is_in_time() -> None:
    """It has a lane and a line in every panel; doubts about the whole run have neither."""
    outages = read("faults")["outages"]
    later = outages.assign(began_s=outages["commanded_s"] + 0.5, recovery_s=np.nan)
    [ended] = outages["ended_s"]
    for kind, span in (("action-late", (6.0, 6.5)), ("not-recovered", (ended, 23.0))):
        frames, run = doubted(kind, outages=later)
        [row] = doubted_times(frames).to_dict("records")
        assert (row["from_s"], row["until_s"]) == pytest.approx(span)
        figure = MeasuredRun(SAMPLES / "faults", frames, run).plot()
        lanes = [label.get_text() for label in figure.axes[-1].get_yticklabels()]
        assert lanes == ["load", "stop R2", f"doubt: {kind}"]
        for axes in figure.axes:
            starts = [float(np.asarray(curve.get_xdata())[0]) for curve in axes.lines]
            assert any(start == pytest.approx(span[0]) for start in starts)
        assert any(f"the text of {kind}" in text for text in hover_texts(figure))
    frames, run = doubted("noisy-host")
    assert doubted_times(frames).empty


def test_empty_seconds_are_found_where_no_action_emptied_them() -> None:
    """Each empty second outside of actions is marked."""
    frames, run = doubted("empty-seconds")
    assert doubted_times(frames).empty
    undisturbed = {**frames, "outages": frames["outages"].head(0)}
    seconds = frames["intervals"]
    mask = seconds["run"].eq(run) & seconds["stream"].eq("received") & seconds["phase"].eq("window")
    empty = seconds.loc[mask & seconds["count"].eq(0), "start_s"]
    assert doubted_times(undisturbed)["from_s"].tolist() == empty.tolist() != []


def test_an_alarm_is_marked_at_its_instant() -> None:
    """Its text shows the line of the log."""
    events = read("faults")["events"]
    detail = json.dumps({"log": "Master.log", "times": 1, "line": "memory resource alarm"})
    _, run = doubted("x")
    alarm = {"run": run, "time_s": 4.5, "what": "alarm", "host": "local", "detail": detail}
    frames, run = doubted("broker-alarm", events=pd.concat([events, pd.DataFrame([alarm])]))
    figure = MeasuredRun(SAMPLES / "faults", frames, run).plot()
    lanes = [label.get_text() for label in figure.axes[-1].get_yticklabels()]
    assert lanes == ["load", "stop R2", "alarm", "doubt: broker-alarm"]
    assert any(
        text.startswith("4.5 s\n") and "memory resource" in text for text in hover_texts(figure)
    )


def test_on_dark_paper_the_most_messages_are_brightest() -> None:
    """The colours of the heat map are inverted as a whole, not swapped one by one."""
    drawing = drawn(measured("faults", "r1-4ffa99dd").plot())
    [style] = [str(tag.text) for tag in drawing.iter(f"{SVG}style") if "@media" in str(tag.text)]
    assert '[data-series*="heat map"]{filter:invert(1)' in style
    [cells] = [g for g in drawing.iter(f"{SVG}g") if "heat map" in g.get("data-series", "")]
    fills = {str(cell.get("style")).split("fill: ")[1][:7] for cell in cells.iter(f"{SVG}path")}
    assert len(fills) > 10
    assert fills & {shade.light for shade in palette.SHADES} == set()


def test_long_runs_stay_small() -> None:
    """A run of an hour is drawn without markers."""
    run = measured("faults", "r1-4ffa99dd")
    seconds = run.tables["intervals"]
    hour = [seconds.assign(start_s=seconds["start_s"] + 25 * number) for number in range(144)]
    long = {**run.tables, "intervals": pd.concat(hour), "cpu": run.tables["cpu"].head(0)}
    none = latency_map(SAMPLES / "faults", "no such run")
    one_run = figures.OneRun(long, none, doubted_times(run.tables))
    figure = figures.run_sheet(one_run)
    assert titles(figure) == ["throughput, msg/sec", "latency, ms", "events"]
    svg = as_svg(figure, "hour", title="", description="")
    assert len(svg) < 600_000


def test_columns_of_a_long_heat_map_are_merged() -> None:
    """All messages stay counted."""
    seconds = np.arange(1000.0)
    rows = pd.DataFrame(
        {"run": "r", "start_s": seconds, "end_s": seconds + 1, "from_s": 0.001, "below_s": 0.002}
    ).assign(count=3)
    merged = run_seconds.coarser(rows)
    assert len(merged) <= run_seconds.MOST
    assert merged["count"].sum() == 3000
    assert merged["start_s"].tolist()[1:] == merged["end_s"].tolist()[:-1]
    assert run_seconds.coarser(rows.head(100)).equals(rows.head(100))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sample with faults."""
    out = tmp_path_factory.mktemp("report") / "faults"
    publish(SAMPLES / "faults", out, notebooks=False)
    return out


@pytest.mark.starts_programs
def test_every_row_of_a_report_leads_to_its_run(report: Path) -> None:
    """The page shows the run with the action in question, and links all runs."""
    page = report / "qpid-dispatch/line/index.rst"
    text = page.read_text()
    files = sorted((page.parent / "runs").glob("*.svg"))
    assert len(files) == 2
    assert all(f":download:`open <runs/{file.name}>`" in text for file in files)
    assert text.count(".. image:: runs/") == 1
    assert "in time, with 2 threads, condition shutdown." in " ".join(text.split())
    descriptions = []
    for file in files:
        root = ET.parse(file).getroot()  # noqa: S314
        assert [script.text for script in root.iter(f"{SVG}script")] == [EXPLORE]
        assert root.get("data-time")
        descriptions.append(str(root.findtext(f"{SVG}desc")))
    assert not any("rabbitmq" in text for text in descriptions)
    assert sum("Action stop of R2 from 6.0 to 9.0 s." in text for text in descriptions) == 1


@pytest.mark.starts_programs
def test_one_file_has_the_runs_that_it_shows(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other runs and their links are left out, and so are runs that are too large."""
    page = BeautifulSoup(fold(report / "html", tmp_path / "faults.html").read_text(), "html.parser")
    [picture] = page.select("img.apart")
    assert str(picture["src"]).startswith("data:image/svg+xml;base64,")
    assert "condition shutdown" in str(picture["alt"])
    assert not page.find_all("a", string="open")
    monkeypatch.setattr(single_file, "MOST_BYTES", 100_000)
    text = fold(report / "html", tmp_path / "small.html").read_text()
    assert single_file.LEFT_OUT in text
    assert 'class="apart"' not in text


def test_each_condition_with_actions_has_a_run_in_time() -> None:
    """Each condition has one run; without actions only the best point has."""
    frames = read("faults").complete
    runs = frames["runs"]["run"]
    copies = {
        name: pd.concat(
            [frame, frame.replace({"-4ffa99dd": "-copied", "shutdown": "killed"}, regex=True)]
        )
        for name, frame in frames.items()
    }
    assert explorers.shown(frames) == [run for run in runs if run.endswith("4ffa99dd")]
    assert len(explorers.shown(copies)) == 2
    assert explorers.shown({**frames, "outages": frames["outages"].head(0)}) == [runs[0]]


def test_the_first_runs_are_those_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """If there are too many: the best points first, then runs with doubts."""
    frames = read("runs").complete
    best = explorers.shown(frames)
    doubted_runs = set(frames["doubts"]["run"].dropna())
    monkeypatch.setattr(explorers, "MOST", len(best) + 3)
    chosen = list(explorers.explorers(frames, SAMPLES / "runs"))
    assert chosen[: len(best)] == best
    assert len(chosen) == len(best) + 3
    assert set(chosen[len(best) :]) <= doubted_runs


def test_lanes_are_of_events_alone() -> None:
    """Milestones of a run and events before the load have no lane."""
    run = measured("runs", "r1-19b55f1a")
    lanes = run_lanes.lanes(run.tables, doubted_times(run.tables), (-1.0, 4.0))
    assert [name for name, _ in lanes] == ["load"]
