"""Sections: page, notebook, terminal and JSON show the same values."""

import json
from itertools import count
from pathlib import Path

import pytest
import samples
from factory import Shape, tables
from typer.testing import CliRunner
from viewed import contents

from mqperf.base.errors import MqperfError
from mqperf.front.cli import app
from mqperf.pages import notebook
from mqperf.pages.sections import SECTIONS, forms, shown
from mqperf.pages.sections.forms import grid
from mqperf.study.tables import Tables

SAMPLE = Path(__file__).parents[2] / "data/samples/faults"
FILLED = {"messages", "points", "nodes", "seconds", "outages", "action_phases"}
WIDE, NARROW = 400, 60


@pytest.fixture(scope="module")
def found() -> Tables:
    return samples.complete(SAMPLE)


@pytest.mark.takes_long
def test_what_there_is_no_data_for_is_not_shown(found: Tables) -> None:
    """There is neither an empty table nor a heading."""
    assert {name for name in SECTIONS if [*shown(found, name)]} >= FILLED
    assert not [*shown(found, "links")]
    assert not [*shown(found, "steps")]


@pytest.mark.parametrize("section", sorted(FILLED - {"seconds"}))
def test_all_forms_have_the_same_rows(found: Tables, section: str) -> None:
    """The headings, the number of rows and every sentence are equal."""
    [(view, content)] = shown(found, section)
    page = grid(content, map(str, count(1)), {})
    frame, document = forms.frame(content), forms.document(view, content)
    terminal = [*forms.lines(content, WIDE)]
    assert page is not None
    assert content.rows is not None
    assert len(page.rows) == len(frame) == len(content.rows)
    assert set(frame.columns) - {forms.NOTES} == set(page.headings)
    assert terminal[0] == document["heading"] == content.heading
    assert len(document["text"]) == len(content.words)
    table = terminal[terminal.index("") + 1 :]
    assert table[0].split() == " ".join(page.headings).split()
    assert len([line for line in table[1:] if not line.startswith("    ")]) == len(page.rows)
    assert json.loads(json.dumps(document)) == document


def test_a_doubt_stands_in_every_form(found: Tables) -> None:
    """It is a footnote, a note of the row, a line below the row, and in JSON."""
    point = found["points"]["point"].iloc[0]
    doubt = found["doubts"].head(0).reindex([0])
    doubt[["kind", "point", "text", "test_case"]] = ["backlog", point, "they wait", "transfer"]
    keys = found["points"].iloc[0][["system", "topology", "queues"]]
    doubt[["system", "topology", "queues"]] = list(keys)
    [(view, content)] = shown({**found, "doubts": doubt}, "points")
    page = grid(content, map(str, count(1)), {})
    assert page is not None
    assert page.notes[0].text == "they wait"
    assert forms.frame(content)[forms.NOTES].iloc[0] == "they wait"
    assert "    they wait" in [*forms.lines(content, WIDE)]
    note = {"about": point, "column": "latency_mean_s", "text": "they wait"}
    assert note in forms.document(view, content)["notes"]


def test_a_narrow_terminal_has_a_paragraph_for_each_row(found: Tables) -> None:
    """No line is wider; every figure has its name."""
    [(_, content)] = shown(found, "outages")
    lines = [*forms.lines(content, NARROW)]
    assert max(map(len, lines)) <= NARROW
    assert "downtime, s: " in " ".join(line.strip() for line in lines)


def test_the_standard_deviation_is_told_where_pages_have_it() -> None:
    """It is left out for a staircase, whose window has several rates, and if it is unknown."""
    frames = tables(Shape(layouts=(("cmsm", "classic"),), test_cases=("notify",)))
    steps = frames["runs"][["run", "point"]].assign(step=1)
    frames = {**frames, "messages": frames["messages"].assign(throughput_sd_msg_s=1.0)}
    unknown = frames["messages"].assign(throughput_sd_msg_s=float("nan"))
    for changed, has in (
        ({}, True),
        ({"rate_steps": steps}, False),
        ({"messages": unknown}, False),
    ):
        [content] = contents({**frames, **changed}, "seconds", "notify")
        assert ("standard deviation" in " ".join(content.words)) is has


@pytest.mark.takes_long
def test_a_section_without_rows_is_told() -> None:
    """An empty output would look like an error."""
    shown_there = CliRunner().invoke(app, ["show", str(SAMPLE), "steps"])
    assert shown_there.output == f"no steps in {SAMPLE}\n"
    assert "nothing of" not in CliRunner().invoke(app, ["show", str(SAMPLE), "points"]).output


def test_a_section_that_there_is_not_is_named(found: Tables) -> None:
    """The error lists the known ones; the same holds for a test case."""
    with pytest.raises(MqperfError, match="no section 'outage'; there are: messages, points"):
        notebook.table(found, "outage")
    with pytest.raises(MqperfError, match="no test case 'call'; there are: rpc-call"):
        notebook.table(found, "points", "call")
