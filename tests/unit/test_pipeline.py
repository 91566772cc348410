"""The overlap of a sweep, with trials whose processes cannot start."""

from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest
from test_trial import CASE, bench

from mqperf.base.errors import RecordError
from mqperf.lab.runner.phases import Begun, begin
from mqperf.lab.runner.pipeline import Pipeline
from mqperf.lab.runner.trial import Audience
from mqperf.plan import Case, LinkPoint
from mqperf.record import runs

pytestmark = pytest.mark.starts_programs

CASES = [CASE, CASE.model_copy(update={"repeat": 2})]
LINKED = CASE.model_copy(update={"link": LinkPoint(delay_s=0.01)})


@pytest.fixture
def start(tmp_path: Path) -> Callable[[Case], Begun]:
    """Begins a trial whose run is in the folder ``runs``."""
    ready = bench(tmp_path / "tools")
    return lambda case: begin(case, 1, tmp_path / "runs", ready, Audience(print))


def test_cases_are_taken_in_their_order(start: Callable[[Case], Begun]) -> None:
    """Whether they got ready before or begin when they are taken; then there is none."""
    pipeline = Pipeline(deque(CASES), start)
    taken = []
    while begun := pipeline.take():
        taken.append(begun.trial.case)
        pipeline.prepare(begun.trial.case)
        begun.trial.discard()
    assert taken == CASES


def test_who_was_not_taken_is_put_back(start: Callable[[Case], Begun], tmp_path: Path) -> None:
    """At the front of the queue, and nothing is left of its run."""
    queue = deque(CASES)
    pipeline = Pipeline(queue, start)
    pipeline.prepare(CASE)
    assert list(queue) == CASES[1:]
    assert [run.status for run in runs(tmp_path / "runs")] == ["partial"]
    pipeline.close()
    assert list(queue) == CASES
    assert list(runs(tmp_path / "runs")) == []
    pipeline.close()
    assert list(queue) == CASES


@pytest.mark.parametrize(("present", "following"), [(LINKED, CASE), (CASE, LINKED)])
def test_cases_with_a_link_have_it_alone(present: Case, following: Case) -> None:
    """Nobody connects through the link of another, nor has one laid under its feet."""
    begun: list[Case] = []

    def start(case: Case) -> Begun:
        begun.append(case)
        raise RecordError("this test has no place for a run")

    pipeline = Pipeline(deque([following]), start)
    pipeline.prepare(present)
    assert begun == []


def test_a_refusal_waits_for_its_turn() -> None:
    """The case that drains meanwhile is brought home first; the refused one is not lost."""

    def refuse(_case: Case) -> Begun:
        raise RecordError("the disk is full")

    queue = deque(CASES)
    pipeline = Pipeline(queue, refuse)
    pipeline.prepare(CASE)
    with pytest.raises(RecordError, match="the disk is full"):
        pipeline.take()
    assert list(queue) == CASES
