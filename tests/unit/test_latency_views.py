"""Latency over time: heat maps of recorded and imported runs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import samples
from IPython.display import Markdown
from matplotlib.figure import Figure

from mqperf.pages import latency_maps
from mqperf.pages.figures.latency_maps import latency_map
from mqperf.study import tables
from mqperf_imported.study import importing
from mqperf_imported.study.measured import About

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data/samples"

Shown = Callable[[Path, str], list[object]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What the view displays of a folder and test case."""
    parts: list[object] = []

    def show(folder: Path, test_case: str) -> list[object]:
        monkeypatch.setattr(latency_maps, "display", lambda *displayed: parts.extend(displayed))
        latency_maps.show(folder, samples.complete(folder), test_case)
        return parts

    return show


@pytest.mark.parametrize(
    ("folder", "test_case", "panels"),
    [("runs", "rpc-call", 2), ("stress", "publish", 6), ("faults", "transfer", 2)],
)
def test_every_point_has_a_map(shown: Shown, folder: str, test_case: str, panels: int) -> None:
    """From single messages and from counts, with one colour scale for a sheet."""
    title, sheet, *_ = shown(SAMPLES / folder, test_case)
    assert isinstance(title, Markdown)
    assert isinstance(sheet, Figure)
    sheet.canvas.draw()
    maps = [axes for axes in sheet.axes if axes.get_visible() and axes.get_title(loc="left")]
    assert len(maps) == panels
    assert all(axes.has_data() for axes in maps)


@pytest.mark.parametrize("folder", ["runs", "stress"])
def test_a_map_counts_every_latency(folder: str) -> None:
    """Each message that was started in the window is counted in one cell."""
    read = samples.read(SAMPLES / folder)
    for run, number in zip(read["latency"]["run"][:3], read["latency"]["samples"][:3], strict=True):
        cells = tables.latency_map(SAMPLES / folder, run)
        assert cells["count"].sum() == number
        assert (cells["end_s"] - cells["start_s"] == 1).all()
        assert np.allclose(cells["below_s"] / cells["from_s"], 10**0.1)


def test_a_shutdown_is_a_gap_between_two_lines(shown: Shown) -> None:
    """No message that was due without the router arrived; the action is drawn."""
    folder = SAMPLES / "faults"
    read = samples.read(folder)
    action = read["outages"].iloc[0]
    cells = tables.latency_map(folder, str(action["run"]))
    away = (cells["start_s"] > action["began_s"]) & (cells["end_s"] < action["ended_s"])
    assert not away.any()
    _, sheet = shown(folder, "transfer")
    assert isinstance(sheet, Figure)
    drawn = [len(axes.collections) for axes in sheet.axes if axes.get_title(loc="left")]
    assert sorted(drawn) == [1, 2]


def test_imported_runs_have_a_map(shown: Shown, tmp_path: Path) -> None:
    """From their log of latencies, in intervals of whole seconds."""
    imported = importing.import_paths([SAMPLES / "maestro/java"], About())
    importing.write(imported.tables, tmp_path, latencies=imported.latencies)
    _, sheet = shown(tmp_path, "transfer")
    assert isinstance(sheet, Figure)
    cells = tables.latency_map(tmp_path, "java")
    assert cells["count"].sum() == imported.tables["latency"]["samples"][0]
    assert sorted(set(cells["start_s"])) == [0, 1, 2, 3, 4]


def test_missing_latencies_give_a_sentence(shown: Shown) -> None:
    """A published report without latency over time gives a sentence."""
    parts = shown(ROOT / "data/published/2016", "rpc-call")
    assert all(isinstance(part, Markdown) for part in parts)
    assert "latency over time is not known" in parts[0].data  # type: ignore[attr-defined]


def test_a_map_of_nothing_says_so() -> None:
    """A run without a record has a panel "no data"."""
    read = samples.read(SAMPLES / "stress")
    cells = tables.latency_map(SAMPLES / "stress", "gone")
    axes = latency_map(cells, Figure().subplots(), outages=read["outages"])
    assert [text.get_text() for text in axes.texts] == ["no data"]
