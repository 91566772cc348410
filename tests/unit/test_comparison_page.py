"""The page of a comparison: what differs first, the curves of both, and every ratio."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from factory import Shape, tables
from matplotlib.figure import Figure

from mqperf.base.errors import ReportError
from mqperf.pages.figures.overlaid import overlaid
from mqperf.pages.report.comparison_page import Sides, _points, write
from mqperf.study.stats import compared, complete
from mqperf.study.tables import read

pytestmark = pytest.mark.starts_programs

SHAPE = Shape(layouts=(("cmsm", "classic"), ("cmsm", "mirrored")), test_cases=("rpc-call",))
SWEEP = {"topology": "cmsm", "queues": "classic", "test_case": "rpc-call"}


@pytest.fixture(scope="module")
def sides() -> Sides:
    """B was measured with one more thread count, on another machine, with another release."""
    more = tables(replace(SHAPE, threads=(50, 100, 250, 500)))
    runs = more["runs"].assign(cpu_model="Another CPU", system_version="4.0.5", asked_s=20.0)
    return [("before", tables(SHAPE)), ("after", {**more, "runs": runs})]


@pytest.fixture(scope="module")
def page(sides: Sides, tmp_path_factory: pytest.TempPathFactory) -> Path:
    comparison = compared(sides[0][1], sides[1][1])
    return write(tmp_path_factory.mktemp("comparison") / "out", sides, comparison, html=False)


def test_differences_come_first(page: Path) -> None:
    """A line of differences is above all numbers; then hardware, versions and plan, rates last."""
    text = page.read_text()
    order = ["A is before", "They differ in: Processor; ", "B against A, throughput", ".. image::"]
    order += ["Hardware", "Another CPU", "Versions", "4.0.5", ":: Plan\n", "Sustained"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)


def test_every_sweep_has_its_curves_and_its_rows(page: Path) -> None:
    """A picture with words, and a row for each figure of each point that both have."""
    text = page.read_text()
    for queues in ("classic", "mirrored"):
        picture = f"rpc_call_on_cmsm_{queues}"
        assert (page.parent / f"{picture}.svg").is_file()
        alt = text.split(f".. image:: {picture}.*\n   :alt: ")[1].splitlines()[0]
        assert re.search(r"throughput of A from .* msg/sec; throughput of B from ", alt)
    assert len(re.findall(r"- throughput, msg/sec\n     - 100\b", text)) == 2
    assert not re.search(r"- 500\b", text.partition("RPC CALL: ")[2])
    assert "A: cpu-sum" in text


def test_downloads_are_there(page: Path) -> None:
    """The tables of all figures, as files."""
    names = re.findall(r":download:`CSV <([^>]+)>`", page.read_text())
    assert len(names) == 3
    assert all((page.parent / name).is_file() for name in names)


def test_curves_of_both_lie_on_the_same_axes(sides: Sides) -> None:
    """A solid, B dashed, at all their points; doubted points are hollow."""
    axes = Figure().subplots()
    overlaid(_points(sides, SWEEP), "throughput_msg_s", axes)
    drawn = {line.get_label(): line for line in axes.lines}
    assert (drawn["A"].get_linestyle(), drawn["B"].get_linestyle()) == ("-", "--")
    assert [np.asarray(drawn[side].get_xdata()).size for side in "AB"] == [3, 4]


def test_a_published_report_is_compared(root: Path, tmp_path: Path) -> None:
    """Facts that it does not state are differences; what it did not measure has no panel."""
    published = complete(read(root / "data/published/2016"))
    sides = [("2016", published), ("today", tables(replace(SHAPE, threads=(50, 100))))]
    comparison = compared(published, sides[1][1])
    text = write(tmp_path / "out", sides, comparison, html=False).read_text()
    assert "not stated" in text
    assert "not known" in text


def test_other_folders_are_not_replaced(sides: Sides, tmp_path: Path) -> None:
    """A folder with other files stays as it is; a comparison is replaced."""
    comparison = compared(sides[0][1], sides[1][1])
    out = tmp_path / "out"
    write(out, sides, comparison, html=False)
    write(out, sides, comparison, html=False)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    with pytest.raises(ReportError, match="is not a report"):
        write(tmp_path / "mine", sides, comparison, html=False)
