"""Interactive drawings: marks have tooltips, and series are those of the legend."""

import json
from xml.etree import ElementTree as ET

import pytest
from factory import Shape, tables
from matplotlib.figure import Figure

from mqperf.pages import figures
from mqperf.pages.figures.svg import EXPLORE, as_svg
from mqperf.pages.report.drawings import counting
from mqperf.study.tables import Tables

pytestmark = pytest.mark.takes_long

SVG = "{http://www.w3.org/2000/svg}"
SHAPE = Shape(layouts=(("cmsm", "classic"), ("cs1ss2", "mirrored")), test_cases=("rpc-call",))


@pytest.fixture(scope="module")
def read() -> Tables:
    return tables(SHAPE)


def root(figure: Figure) -> ET.Element:
    drawn = as_svg(figure, "figure", title="A figure", description="What it shows.")
    return ET.fromstring(drawn)  # noqa: S314


def titles(drawing: ET.Element) -> list[str]:
    return [str(mark.findtext(f"{SVG}title")) for mark in drawing.iter(f"{SVG}use")]


def test_marks_have_tooltips(read: Tables) -> None:
    """A tooltip has the position, the figure with its interval, the doubts, and the point."""
    points = read["points"][read["points"]["topology"] == "cmsm"]
    doubted = {str(points["point"].iloc[1]): "backlog, lost"}
    texts = titles(root(figures.sweep_sheet(points, doubted=doubted)))
    assert sum(text.startswith("50 threads\nthroughput ") for text in texts) == 1
    first = next(text for text in texts if text.startswith("50 threads\nthroughput "))
    assert "\n95 % interval " in first
    assert first.endswith(str(points["point"].iloc[0]))
    hollow = [text for text in texts if text.startswith("100 threads\nthroughput ")]
    assert len(hollow) == 2
    assert all("\ndoubts: backlog, lost\n" in text for text in hollow)


def test_series_are_those_of_the_legend() -> None:
    """Each entry of a legend has its lines, also in a figure of several curves."""
    varied = Shape(layouts=SHAPE.layouts[:1], parameters=(("payload_bytes", (1, 9)),))
    for figure in (
        figures.topology_sheet(tables(SHAPE)["points"], {"rpc-call": "CALL"}),
        figures.sweep_sheet(tables(varied)["points"]),
    ):
        drawing = root(figure)
        groups = [json.loads(group.get("data-series", "[]")) for group in drawing.iter(f"{SVG}g")]
        entries = [
            "".join(text.itertext())
            for group in drawing.iter(f"{SVG}g")
            if group.get("id", "").startswith("legend_")
            for text in group.iter(f"{SVG}text")
        ]
        series = {name for names in groups for name in names}
        assert len(series & {*entries}) >= 2, (entries, series)


def test_a_drawing_has_one_script_and_no_names_of_ours(read: Tables) -> None:
    """The script is for zooming and hiding series; tooltips are no names of groups."""
    drawing = root(
        figures.top_sheet(
            read["points"]
            .head(0)
            .assign(label="", doubts="", sound=1, sustained=1, top_throughput_msg_s=0.0),
            {},
        )
    )
    assert [script.text for script in drawing.iter(f"{SVG}script")] == [EXPLORE]
    assert not any(group.get("id", "").startswith("told") for group in drawing.iter(f"{SVG}g"))


def test_marks_count_what_the_test_case_counts(read: Tables) -> None:
    """Tooltips have the unit creations, if these are counted."""
    points = read["points"][read["points"]["topology"] == "cmsm"]
    texts = titles(root(counting(figures.sweep_sheet(points), "creations")))
    assert any("creations/sec" in text for text in texts)
    assert not any("msg" in text for text in texts)
