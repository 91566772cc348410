"""The recorded sample of offered rates, as shown."""

from pathlib import Path

import pandas as pd
import pytest
import samples
from IPython.display import Markdown
from matplotlib.figure import Figure

from mqperf.pages import notebook
from mqperf.pages.report.drawings import Drawing
from mqperf.study.tables import Tables

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/stress"


@pytest.fixture(scope="module")
def found() -> Tables:
    return samples.complete(SAMPLE)


def test_nothing_of_the_sample_is_lost(found: Tables) -> None:
    """Even above the saturation rate every message sent was received."""
    counts = found["messages"]
    assert counts["sent"].tolist() == counts["received"].tolist()
    assert not counts[["lost", "duplicates", "foreign", "errors"]].any(axis=None)


def test_the_sample_crosses_the_saturation_point(found: Tables) -> None:
    """Each exchange type keeps up with one rate, and not with a higher one."""
    rates = found["saturation_rates"]
    assert len(rates) == 2
    assert (rates["kept_rate_msg_s"] < rates["missed_rate_msg_s"]).all()
    shown = notebook.table(found, "saturation_rates")
    assert shown["exchange type"].tolist() == ["direct", "fanout"]
    assert "saturation point, msg/sec" in shown.columns


@pytest.mark.parametrize("section", ["points", "percentiles"])
def test_a_layout_has_words_a_sheet_and_a_table(
    found: Tables, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    """They stand below the title; one layout was measured."""
    shown: list[object] = []
    monkeypatch.setattr(notebook, "display", lambda *parts: shown.extend(parts))
    notebook.show(found, section, "publish")
    title, words, sheet, table = shown
    assert isinstance(title, Markdown)
    assert isinstance(words, Markdown)
    assert isinstance(sheet, Drawing)
    assert all(axes.has_data() for axes in sheet.figure().axes)
    assert isinstance(table, pd.DataFrame)


def test_one_metric_is_drawn_alone(found: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU per message is drawn, below the title of the layout."""
    shown: list[object] = []
    monkeypatch.setattr(notebook, "display", lambda *parts: shown.extend(parts))
    notebook.show_metric(found, "cpu_per_message", "publish")
    _, sheet = shown
    assert isinstance(sheet, Figure)
    assert all(axes.has_data() for axes in sheet.axes)


def test_more_messages_tell_rarer_percentiles(found: Tables) -> None:
    """A window of 10 s bears three nines at a thousand messages a second, four at 10,000."""
    last = found["percentiles"].groupby("run")["percentile"].max()
    rates = found["runs"].set_index("run")["rate_msg_s"]
    assert last[rates == 1000].between(0.998, 0.999).all()
    assert last[rates == 10_000].between(0.9997, 0.9999).all()
