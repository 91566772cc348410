"""Latencies of surviving messages only: a remark appears if many were lost."""

from pathlib import Path

import pytest
import samples
from factory import Shape, tables

from mqperf.pages import run_line
from mqperf.pages.questions.first_screen import first_screen, lines
from mqperf.pages.report.build import build
from mqperf.plan.columns import COMPUTED
from mqperf.record import runs
from mqperf.study import stats
from mqperf.study.stats.survivors import survivors
from mqperf.study.tables import Tables

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[2]
SAMPLE = "data/samples/faults"
SHAPE = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(5,), repeats=2)


def lacking(lost: int, errors: int = 0) -> dict[str, str]:
    """The remarks on a point with 2 runs and this many lost messages and errors."""
    rows = tables(SHAPE)
    messages = rows["messages"].assign(sent=10_000, lost=lost, errors=errors)
    return survivors({**rows, "messages": messages})


def test_the_remark_appears_from_one_per_cent_on() -> None:
    """The share is over all runs of the point; a failed call has no latency either."""
    [sentence] = lacking(3600).values()
    assert sentence == "latency is of what arrived: 36 % of 20000 messages did not"
    assert lacking(0) == lacking(99) == lacking(-500) == {}
    assert set(lacking(100)) == set(lacking(60, errors=40))


@pytest.mark.parametrize("name", ["runs", "hosts", "stress", "wan"])
def test_sound_runs_have_no_such_remark(name: str) -> None:
    """All recorded samples without losses have none."""
    assert survivors(samples.complete(ROOT / "data/samples" / name)) == {}


def test_an_answer_has_the_remark_on_its_point() -> None:
    """It is a line below the table."""
    rows = {name: frame for name, frame in tables(SHAPE).items() if name not in COMPUTED}
    lost = rows["messages"].assign(lost=(rows["messages"]["sent"] * 0.1).astype("Int64"))
    frames = stats.complete({**rows, "messages": lost})
    [sentence] = survivors(frames).values()
    assert sentence in " ".join(" ".join(lines(first_screen(frames))).split())


@pytest.fixture(scope="module")
def faults() -> Tables:
    return samples.complete(ROOT / SAMPLE)


@pytest.mark.starts_programs
def test_a_planned_loss_is_said_and_not_doubted(faults: Tables, tmp_path: Path) -> None:
    """The page has it beside the latency, and the terminal at the end of the run."""
    assert faults["doubts"].empty
    [sentence] = survivors(faults).values()
    assert sentence == (
        "latency is of what arrived: 36 % of 12500 messages did not, during actions of the plan"
    )
    ends = [run_line.of_run(run).partition("no doubts")[2] for run in runs(ROOT / SAMPLE)]
    assert sorted(ends) == ["", f"; {sentence}"]
    tops = " ".join(lines(first_screen(faults)))
    assert sentence not in tops, "that is of the undisturbed point"
    build(faults, tmp_path / "out", title="faults", html=False)
    pages = [" ".join(path.read_text().split()) for path in (tmp_path / "out").rglob("index.rst")]
    assert sum(sentence in page for page in pages) == 1
