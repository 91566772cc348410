"""Figures: the same axes back, titles from the register, readable on light and dark pages."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import samples
from factory import Shape, tables
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mqperf.pages import figures
from mqperf.pages.figures import labels as labels_of
from mqperf.pages.figures import palette, panels, sheets
from mqperf.pages.figures.curves import pens_of_layouts
from mqperf.pages.figures.marks import LETTERS_ACROSS, crowded, rate_axis
from mqperf.pages.figures.svg import as_svg
from mqperf.plan.columns import COLUMNS, FIGURES
from mqperf.plan.topologies import QUEUES
from mqperf.study.tables import Tables

pytestmark = pytest.mark.takes_long

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SVG = "{http://www.w3.org/2000/svg}"
TITLES = {"rpc-call": "CALL", "rpc-cast": "CAST", "notify": "NOTIFY"}
Draw = Callable[[Tables, Axes], Axes]

PANELS: dict[str, Draw] = {
    "throughput": lambda read, axes: panels.throughput(read["points"], axes),
    "latency": lambda read, axes: panels.latency(read["points"], axes),
    "broker_cpu": lambda read, axes: panels.broker_cpu(read["points"], axes),
    "node_cpu": lambda read, axes: panels.node_cpu(read["cpu"], axes),
    "message_count": lambda read, axes: panels.message_count(read["messages"], axes),
    "message_faults": lambda read, axes: panels.message_faults(read["messages"], axes),
    "over_time": lambda read, axes: panels.over_time(read["intervals"], axes, read["outages"]),
    "topologies": lambda read, axes: panels.topologies(read["points"], axes),
}
each_panel = pytest.mark.parametrize("draw", PANELS.values(), ids=PANELS)


@pytest.fixture(scope="module")
def read() -> Tables:
    return tables(Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",)))


def drawn(draw: Draw, read: Tables) -> Axes:
    axes = Figure().subplots()
    assert draw(read, axes) is axes
    axes.figure.canvas.draw()
    return axes


@each_panel
def test_a_panel_gives_back_its_axes_with_a_title_from_the_register(
    draw: Draw, read: Tables
) -> None:
    """Units are those of the columns, so that figure and table cannot disagree."""
    title = drawn(draw, read).get_title(loc="left")
    shown = {column.heading() for column in COLUMNS.values() if column.shown or column.unit}
    assert any(title.endswith(heading) for heading in shown)


@each_panel
def test_a_sweep_of_one_point_is_drawn(draw: Draw) -> None:
    """A single thread count has no range, and still a picture."""
    shape = Shape(layouts=(("cmsm", "classic"),), threads=(10,), repeats=1, test_cases=("notify",))
    assert drawn(draw, tables(shape)).has_data()


@each_panel
def test_a_panel_without_data_has_words(draw: Draw, read: Tables) -> None:
    """An empty table gives a panel that says so, not an error and not a blank."""
    empty = {name: frame.head(0) for name, frame in read.items()}
    assert [text.get_text() for text in drawn(draw, empty).texts] == ["no data"]


def test_points_without_figures_are_left_out(read: Tables) -> None:
    """A point whose every attempt failed does not break the line of the others."""
    points = read["points"].copy()
    points.loc[0, list(FIGURES)] = float("nan")
    axes = panels.throughput(points, Figure().subplots())
    assert len(axes.lines[0].get_xdata()) == len(points) - 1  # type: ignore[arg-type]


def test_a_doubted_point_is_hollow(read: Tables) -> None:
    """A reader sees in the picture which point is not to be trusted."""
    point = read["points"]["point"].iloc[1]
    axes = panels.throughput(read["points"], Figure().subplots(), doubted={point})
    line, hollow = axes.lines
    assert line.get_markerfacecolor() == palette.THROUGHPUT.light
    assert hollow.get_markerfacecolor() == palette.PAPER.light
    assert list(hollow.get_xdata()) == [100]  # type: ignore[arg-type]


def test_repeats_show_their_interval(read: Tables) -> None:
    """Points with an interval have a bar, points of single runs have none."""
    axes = panels.throughput(read["points"], Figure().subplots())
    assert len(axes.collections[0].get_paths()) == len(read["points"])
    once = tables(Shape(layouts=(("cmsm", "classic"),), repeats=1))
    assert not panels.throughput(once["points"], Figure().subplots()).collections


def test_seconds_stand_where_their_action_does() -> None:
    """The stop of a recorded run is shaded from begin to end, and seconds are at their middle."""
    results = samples.results(SAMPLES / "faults")
    axes = panels.over_time(results["intervals"], Figure().subplots(), results["outages"])
    [action] = [patch for patch in axes.patches if patch.get_label() == "stop"]
    assert isinstance(action, Rectangle)
    assert action.get_x() == pytest.approx(6.0, abs=0.01)
    assert action.get_x() + action.get_width() == pytest.approx(9.0, abs=0.01)
    seconds = np.asarray(axes.lines[0].get_xdata(), dtype=float)
    assert set(seconds % 1) == {0.5}


def test_a_doubted_saturation_point_says_so() -> None:
    """In the table, by the kinds of doubt about its best point, and in the figure."""
    results = samples.results(SAMPLES / "stress")
    rates = results["saturation_rates"]
    kinds = rates.set_index("exchange_type")["doubted"]
    assert kinds["direct"] == "rate-missed, sender-late, tester-saturated"
    text = rates.set_index("exchange_type")["text"]["direct"]
    assert text.endswith("is in doubt: rate-missed, sender-late, tester-saturated.")
    points = results["points"][results["points"]["exchange_type"].eq("direct")]
    axes = Figure().subplots()
    panels.throughput(points, axes, saturation_points=rates[:1])
    assert any(label.get_text().startswith("doubted saturation point") for label in axes.texts)


def test_saturation_point_and_peak_are_marked_inside_the_sweep_only(read: Tables) -> None:
    """A band from one end of the interval to the other, cut off where the sweep ends."""
    nothing = float("nan")
    saturation_points = pd.DataFrame(
        {
            "saturation_threads": [120.0],
            "saturation_threads_low": [90.0],
            "saturation_threads_high": [900.0],
            "peak_threads": [900.0],
            "peak_threads_low": [nothing],
            "peak_threads_high": [nothing],
        }
    )
    axes = panels.throughput(
        read["points"], Figure().subplots(), saturation_points=saturation_points
    )
    assert [text.get_text() for text in axes.texts] == ["saturation point 120"]
    (band,) = axes.patches
    drawn = band.get_extents().transformed(axes.transData.inverted())
    assert list(drawn.intervalx) == pytest.approx([90, 250])


def test_marks_at_the_top_are_not_cut_off() -> None:
    """Two points of nearly one height leave room above them."""
    flat = tables(Shape(layouts=(("cmsm", "classic"),), test_cases=("notify",), repeats=1))[
        "points"
    ]
    flat = flat.assign(throughput_msg_s=[1000.0, 1000.1, 1000.0])
    axes = panels.throughput(flat, Figure().subplots())
    assert axes.get_ylim()[1] > 1050


def test_latency_without_percentiles_shows_the_mean(read: Tables) -> None:
    """Published tables have a mean and no percentiles; it is drawn all the same."""
    points = read["points"].copy()
    points[["latency_p50_s", "latency_p95_s", "latency_p99_s"]] = float("nan")
    axes = panels.latency(points, Figure().subplots(), subject="one-way")
    assert len(axes.lines) == 1
    assert axes.get_title(loc="left") == "one-way latency, ms"
    assert axes.get_yscale() == "log"


def test_units_do_not_share_an_axis(read: Tables) -> None:
    """Throughput, latency and CPU stand side by side; what was not measured has no panel."""
    assert len(figures.sweep_sheet(read["points"]).axes) == 3
    without = read["points"].assign(cpu_total_cores=float("nan"))
    assert len(figures.sweep_sheet(without).axes) == 2


def test_topologies_have_one_legend() -> None:
    """A panel per measured test case, and each layout once in the legend."""
    both = tables(Shape(test_cases=("rpc-call", "notify")))
    figure = figures.topology_sheet(both["points"], TITLES)
    assert [axes.get_title(loc="left").split()[0] for axes in figure.axes] == ["CALL", "NOTIFY"]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [
        "Client -> Master, Server -> Master",
        "Client -> Slave-1, Server -> Slave-2 (HA)",
    ]


@pytest.mark.parametrize(("letters", "across"), [(20, 2), (90, 1)])
def test_a_legend_of_long_names_has_fewer_columns(letters: int, across: int) -> None:
    """The figure is higher, so that panels keep their height."""
    figure = Figure(figsize=(sheets.WIDTH, sheets.HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    for number in range(8):
        axes.plot([0, 1], label=f"{number}".ljust(letters, "x"))
    sheets.one_legend(figure, [axes])
    [legend] = figure.legends
    assert legend._ncols == across  # type: ignore[attr-defined]
    figure.draw_without_rendering()
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    assert axes.bbox.height / figure.dpi > 0.6 * sheets.HEIGHT


def test_every_kind_of_queue_has_a_noun_of_its_own() -> None:
    """Sentences and legends distinguish kinds of queue by them."""
    nouns = {name: labels_of.kind(name) for name in QUEUES}
    assert len({*nouns.values()}) == len(nouns)
    assert nouns["jetstream-file"] == "JetStream in files"
    assert nouns["core"] == "core NATS"
    assert labels_of.kind("of-a-stranger") == "of-a-stranger queues"


def test_kinds_of_queue_are_told_apart_where_the_topology_is_one() -> None:
    """By colour, dash, marker and name; elsewhere a topology keeps its colour."""
    rows = pd.DataFrame({"topology": "single", "queues": ["classic", "quorum", "stream"]})
    pens = [*pens_of_layouts(rows).values()]
    assert [pen.label for pen in pens] == ["classic queues", "quorum queues", "streams"]
    assert len({pen.dash for pen in pens}) == len({pen.marker for pen in pens}) == 3
    assert len({pen.shade for pen in pens}) == 3
    several = pens_of_layouts(pd.concat([rows, rows.assign(topology="cmsm")]))
    assert several["single", "classic"].shade == several["single", "stream"].shade
    assert several["single", "stream"].label == "Client -> Broker, Server -> Broker (stream)"


def test_units_stand_beside_the_ticks_of_their_axis() -> None:
    """The unit does not overlap the numbers, also where panels share an axis."""
    read = samples.read(SAMPLES / "faults")
    figure = figures.around_sheet(read["intervals"], read["outages"])
    figure.draw_without_rendering()
    axes = figure.axes[0]
    ticks = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert axes.yaxis.label.get_window_extent().x1 <= min(tick.x0 for tick in ticks)


def test_runs_in_time_keep_the_order_of_their_conditions() -> None:
    """A condition has the same colour as in other figures; seconds follow each other."""
    read = tables(Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(10,)))
    intervals = read["intervals"]
    rows = pd.concat(
        [
            intervals.assign(condition=name, run=run, point=run)
            for name, run in (("first", "z"), ("second", "a"))
        ]
    )
    finished = figures.finished_messages(rows)
    assert finished["run"].unique().tolist() == ["z", "a"]
    assert [name for name, _ in figures.by_load(finished)] == [
        "10 threads, condition first",
        "10 threads, condition second",
    ]
    assert all(part["start_s"].is_monotonic_increasing for _, part in finished.groupby("run"))


@pytest.mark.parametrize(
    ("rates", "ticks"), [([1, 4], [1, 4]), ([100, 3_000], [100, 200, 500, 1_000, 2_000])]
)
def test_few_rates_near_each_other_have_ticks(rates: list[float], ticks: list[float]) -> None:
    """Rates over a wider range have round ticks instead."""
    axes = Figure().subplots()
    axes.plot(rates, rates)
    rate_axis(axes, "rate_msg_s")
    low, high = axes.get_xlim()
    assert [tick for tick in axes.get_xticks() if low <= tick <= high] == ticks


def test_tick_labels_keep_their_distance(read: Tables) -> None:
    """This holds for latencies over many decades, and for offered rates with many digits."""
    rates = [1_000, 5_000, 10_000, 20_000, 40_000]
    points = pd.concat([read["points"].head(1)] * 5, ignore_index=True).assign(
        point=list("abcde"), rate_msg_s=rates
    )
    frames = {
        "points": points.assign(
            **{f"latency_p{p}_s": [3e-4, 1e-3, 0.01, 0.5, 3] for p in (50, 95, 99)}
        )
    }
    axes = drawn(PANELS["latency"], frames)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert "100" in labels
    assert [text for text in labels if text.strip("01.\N{NARROW NO-BREAK SPACE}")] == []
    assert axes.get_xticks().tolist() == [1_000, 10_000, 40_000]
    narrow = drawn(PANELS["latency"], read)
    assert {"2", "5"} & {label.get_text().strip("0.") for label in narrow.get_yticklabels()}


def test_lost_messages_show_below_as_many_errors(read: Tables) -> None:
    """Lines that coincide differ in their dashes."""
    messages = read["messages"].assign(lost=7, errors=7)
    axes = drawn(
        lambda data, axes: panels.message_faults(data["messages"], axes), {"messages": messages}
    )
    styles = [line.get_linestyle() for line in axes.lines if max(np.asarray(line.get_ydata())) == 7]
    assert len(styles) == len({*styles}) == 2


def test_finished_messages_are_replies_where_there_are_any(read: Tables) -> None:
    """CALL counts replies, CAST and NOTIFY what servers received; never both."""
    intervals = read["intervals"]
    more = pd.concat([intervals, intervals.assign(stream="received", process="server-1")])
    assert figures.finished_messages(more).equals(figures.finished_messages(intervals))


def test_time_goes_forwards(read: Tables) -> None:
    """Warm-up first, then the window, whatever the order of the rows."""
    (axes,) = figures.time_sheet(
        read["intervals"].sample(frac=1, random_state=1), read["outages"]
    ).axes
    seconds = [np.asarray(line.get_xdata(), dtype=float).tolist() for line in axes.lines]
    assert all(times == sorted(times) and times[0] == -0.5 for times in seconds)


def test_seconds_that_do_not_count_are_shaded(read: Tables) -> None:
    """Warm-up and cool-down are drawn, and told apart from the window."""
    intervals = read["intervals"]
    (axes,) = figures.time_sheet(intervals, read["outages"]).axes
    (patch,) = axes.patches
    assert isinstance(patch, Rectangle)
    assert (patch.get_x(), patch.get_width()) == (-1.0, 1.0)
    window = intervals[intervals["phase"] == "window"]
    assert len(figures.time_sheet(window, read["outages"]).axes[0].patches) == 0


def test_conditions_with_actions_of_their_own_have_panels_of_their_own(read: Tables) -> None:
    """Each with its own actions; where only one has any, all are in one panel."""
    intervals = read["intervals"].assign(condition="restart")
    intervals = pd.concat(
        [intervals.assign(run=name, condition=name) for name in ("restart", "shutdown", "none")]
    )
    actions = pd.DataFrame(
        [
            {"run": "restart", "began_s": 0.0, "ended_s": 1.0},
            {"run": "shutdown", "began_s": 0.0, "ended_s": 2.0},
        ]
    ).assign(action="stop", node="R2", commanded_s=0.0)
    panels = figures.time_sheet(intervals, actions).axes
    shaded = [
        [
            patch.get_width()
            for patch in axes.patches
            if isinstance(patch, Rectangle) and patch.get_label() == "stop"
        ]
        for axes in panels
    ]
    assert sorted(shaded) == [[], [1.0], [2.0]]
    assert len(figures.time_sheet(intervals, actions.head(1)).axes) == 1


@pytest.fixture(scope="module")
def svg(read: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("svg") / "sweep.svg"
    sheet = figures.sweep_sheet(read["points"])
    return figures.write_svg(sheet, path, title="A & B", description="from 1 to 2")


def test_svg_speaks_for_itself(svg: Path) -> None:
    """It has a title, a description, and text that is text."""
    root = ET.parse(svg).getroot()  # noqa: S314 (our own drawing)
    assert [root.findtext(f"{SVG}{tag}") for tag in ("title", "desc")] == ["A & B", "from 1 to 2"]
    assert "throughput, msg/sec" in {text.text for text in root.iter(f"{SVG}text")}
    assert svg.stat().st_size < 60_000


def test_svg_leaves_out_lines_outside_of_it() -> None:
    """matplotlib writes such lines without corners."""
    figure = Figure()
    axes = figure.subplots()
    for height in (5_000.0, 0.5):
        axes.plot([0, 1], [height] * 2, gid=f"at {height}")
    axes.set_ylim(0, 1)
    root = ET.fromstring(as_svg(figure, "lines", title="Lines", description="Two."))  # noqa: S314
    corners = {
        group.get("id"): path.get("d", "")
        for group in root.iter(f"{SVG}g")
        for path in group.findall(f"{SVG}path")
    }
    assert not corners["at 5000.0"]
    assert corners["at 0.5"]


def test_svg_does_not_depend_on_the_day(svg: Path, read: Tables, tmp_path: Path) -> None:
    """The same data gives the same bytes, so that a rebuilt report shows no false change."""
    again = figures.write_svg(
        figures.sweep_sheet(read["points"]),
        tmp_path / svg.name,
        title="A & B",
        description="from 1 to 2",
    )
    assert again.read_bytes() == svg.read_bytes()


def test_svg_swaps_every_colour_it_uses_for_dark_pages(svg: Path) -> None:
    """No ink of the light page stays behind on the dark one."""
    text = svg.read_text()
    drawing, style = text.split("</style>", 1)[1], text.split("</style>", 1)[0]
    lights = {shade.light for shade in palette.SHADES}
    used = {part[:7] for part in drawing.split(": ") if part.startswith("#") and len(part) > 6}
    assert used <= lights
    assert all(f"fill: {colour}" in style for colour in used)
    texts = [tag.split(">", 1)[0] for tag in drawing.split("<text")[1:]]
    assert texts
    assert all("fill: #" in tag for tag in texts)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(colour: str, other: str) -> float:
    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


QUIET = (palette.PAPER, palette.GRID, palette.BOX, palette.ACTION, palette.SENT)


@pytest.mark.parametrize("shade", [s for s in palette.SHADES if s not in QUIET], ids=str)
def test_colours_stand_out_on_both_papers(shade: palette.Shade) -> None:
    """Three to one is what lines and symbols need to be seen; a pale ramp starts a little lower."""
    least = 2.4 if shade in palette.THREADS else 3
    assert contrast(shade.light, palette.PAPER.light) >= least
    assert contrast(shade.dark, palette.PAPER.dark) >= least


def test_a_colour_has_one_meaning() -> None:
    """Two meanings never share a colour, or the swap for dark pages would be ambiguous."""
    assert len({shade.light for shade in palette.SHADES}) == len(palette.SHADES)


def test_more_threads_stand_out_more() -> None:
    """Along the scale of thread counts contrast grows, on either paper."""
    for paper, side in ((palette.PAPER.light, "light"), (palette.PAPER.dark, "dark")):
        steps = [contrast(getattr(shade, side), paper) for shade in palette.THREADS]
        assert all(lower < higher for lower, higher in pairwise(steps))


def test_names_are_drawn_to_the_letter(tmp_path: Path) -> None:
    """A name is no formula, not hidden from the legend, without control characters, and escaped."""
    names = ("$\\frac{$ and $x$", "_hidden", "<b>\x00\u202e\u6f22")
    cpu = tables(Shape(layouts=(("cmsm", "classic"),), threads=(10, 20), nodes=names))["cpu"]
    file = figures.write_svg(
        figures.node_sheet(cpu), tmp_path / "nodes.svg", title="a\x07<b>", description="</desc>\x00"
    )
    drawn = {(element.text or "").strip() for element in ET.parse(file).iter()}  # noqa: S314
    assert {"a <b>", "</desc>", "$\\frac{$ and $x$ total", "\u200b_hidden sys"} <= drawn
    assert "<b> \ufffd\u6f22 total" in drawn


@pytest.mark.parametrize(
    ("names", "slanted"),
    [
        (["undisturbed", "restart", "shutdown", "long shutdown"], True),
        (["classic", "quorum", "stream"], False),
        (["false", "true"], False),
        (["one by itself, however long its name may be"], False),
        ([], False),
    ],
)
def test_names_that_would_run_into_each_other_stand_slanted(
    names: list[str], *, slanted: bool
) -> None:
    """The lengths of neighbours decide, not that of all names together."""
    assert crowded(names, LETTERS_ACROSS) == slanted
