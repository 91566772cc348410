"""The losses from planned actions, beside the doubts and the counts."""

from pathlib import Path

import pandas as pd
import pytest
import samples

from mqperf.pages.report.build import build
from mqperf.pages.sections.messages import of_planned_actions
from mqperf.study.tables import Tables

pytestmark = pytest.mark.starts_programs

SAMPLES = Path(__file__).parents[2] / "data/samples"
SENTENCES = (
    "In 1 run with planned actions 4558 of 12500 messages were lost; 4558 ended in an error at the"
    " client. Losses and errors from planned actions are results, not doubts."
)


@pytest.fixture(scope="module")
def found() -> Tables:
    return samples.complete(SAMPLES / "faults")


def test_pages_say_what_actions_cost(found: Tables, tmp_path: Path) -> None:
    """The text stands above the table of messages; the first page has the loss of each failure."""
    build(found, tmp_path / "out", title="faults", html=False)
    pages = ("index.rst", "qpid-dispatch/line/index.rst")
    first, layout = (" ".join((tmp_path / "out" / page).read_text().split()) for page in pages)
    assert layout.count(SENTENCES) == 1
    assert "4,558 lost" in first


def test_the_worst_of_several_runs_is_named(found: Tables) -> None:
    """A sum over runs would hide the loss of one of them."""
    messages = found["messages"]
    disturbed = messages[messages["run"].isin(found["outages"]["run"])]
    few = disturbed.assign(run="few", sent=10_000, lost=2, errors=0)
    runs = found["runs"]
    more = {
        "messages": pd.concat([messages, few]),
        "outages": pd.concat([found["outages"], found["outages"].assign(run="few")]),
        "runs": pd.concat([runs, runs[runs["run"].isin(disturbed["run"])].assign(run="few")]),
    }
    [sentence] = of_planned_actions({**found, **more})
    assert sentence.startswith(
        "In 2 runs with planned actions 4560 of 22500 messages were lost; 4558 ended in an error at"
        " the client; at most 4558 of 12500 (36 %) in one run."
    )


@pytest.mark.parametrize("missing", ["outages", "messages"])
def test_without_actions_or_counts_nothing_is_said(found: Tables, missing: str) -> None:
    """If either is missing, losses are not mentioned."""
    assert list(of_planned_actions({**found, missing: found[missing].head(0)})) == []


def test_runs_without_counts_are_left_out(found: Tables) -> None:
    """A damaged record may have none; a share of nothing is not computed."""
    damaged = found["messages"].assign(sent=0)
    assert list(of_planned_actions({**found, "messages": damaged})) == []


def test_creations_are_no_messages() -> None:
    """If the tool counts creations, losses are counted in creations."""
    wan = samples.complete(SAMPLES / "wan")
    [sentence] = of_planned_actions(wan)
    assert sentence.startswith("In 1 run with planned actions 0 of 88 creations were lost. Losses")
