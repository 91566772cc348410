"""The overlap of trials in a sweep, without real processes."""

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from test_trial import CASE, bench

from mqperf.base.errors import HostError, RecordError
from mqperf.lab.runner.phases import Agreed, Begun, Prepared, Spoiled, begin
from mqperf.lab.runner.pipeline import Pipeline
from mqperf.lab.runner.schedule import Schedule
from mqperf.lab.runner.trial import Audience
from mqperf.plan import ActionPlan, BackgroundLoad, Case, LinkPoint
from mqperf.record import runs

pytestmark = pytest.mark.starts_programs

CASES = [CASE, CASE.model_copy(update={"repeat": 2})]
LINKED = CASE.model_copy(update={"link": LinkPoint(delay_s=0.01)})


@pytest.fixture
def start(tmp_path: Path) -> Callable[[Case], Begun]:
    """Begins a trial in the folder ``runs``."""
    ready = bench(tmp_path / "tools")
    return lambda case: begin(case, 1, tmp_path / "runs", ready, Audience(print))


def test_cases_are_taken_in_their_order(start: Callable[[Case], Begun]) -> None:
    """Prepared or not; take() returns None at the end."""
    pipeline = Pipeline(deque(CASES), start)
    taken = []
    while begun := pipeline.take():
        taken.append(begun.trial.case)
        pipeline.prepare(begun.trial.case)
        begun.trial.discard()
    assert taken == CASES


def test_untaken_cases_are_put_back(start: Callable[[Case], Begun], tmp_path: Path) -> None:
    """At the front of the queue, and its run folder is removed."""
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
    """They are not prepared beside others."""
    begun: list[Case] = []

    def start(case: Case) -> Begun:
        begun.append(case)
        raise RecordError("this test has no place for a run")

    pipeline = Pipeline(deque([following]), start)
    pipeline.prepare(present)
    assert begun == []


def test_a_refusal_waits_for_its_turn() -> None:
    """The error is raised when the case is taken, and the case stays in the queue."""

    def refuse(_case: Case) -> Begun:
        raise RecordError("the disk is full")

    queue = deque(CASES)
    pipeline = Pipeline(queue, refuse)
    pipeline.prepare(CASE)
    with pytest.raises(RecordError, match="the disk is full"):
        pipeline.take()
    assert list(queue) == CASES


class Preparing:
    """Begins trials without processes, which are ready and agree on the start at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.discarded: list[Case] = []
        self.earliest: list[float] = []
        monkeypatch.setattr(Prepared, "ready", True)
        monkeypatch.setattr(Prepared, "agree", self.agree)

    def begin(self, case: Case) -> Begun:
        """A trial with only its case."""
        trial: Any = SimpleNamespace(case=case, discard=lambda: self.discarded.append(case))
        return Prepared(trial, cast("Any", None), (), None)

    def agree(self, earliest: float) -> Agreed:
        """The window is as early as possible."""
        self.earliest.append(earliest)
        [case] = CASES[1:]
        trial: Any = SimpleNamespace(case=case, discard=lambda: self.discarded.append(case))
        schedule = Schedule(0, 0, earliest, earliest + 1, earliest + 1)
        return Agreed(trial, cast("Any", None), (), None, schedule)


def next_of(preparing: Preparing, present: Case, following: Case = CASES[1]) -> Pipeline:
    """A pipeline whose next case has agreed on its start, if the present case allows it."""
    pipeline = Pipeline(deque([following]), preparing.begin)
    pipeline.prepare(present)
    pipeline.agree(present)
    return pipeline


def test_the_next_case_warms_up_while_the_present_one_is_concluded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its window begins after the estimated end of the conclusion."""
    preparing, began = Preparing(monkeypatch), time.time()
    assert isinstance(next_of(preparing, CASE).take(), Agreed)
    assert preparing.earliest[0] > began + 2.4
    assert preparing.discarded == []


def test_a_case_whose_window_has_begun_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the previous run may have disturbed it."""
    preparing = Preparing(monkeypatch)
    pipeline = next_of(preparing, CASE)
    monkeypatch.setattr(time, "time", lambda: preparing.earliest[0])
    assert isinstance(pipeline.take(), Prepared)
    assert preparing.discarded == CASES[1:]


ACTING = ActionPlan.model_validate({"do": "freeze", "node": "Master", "at_s": 0, "for_s": 0.1})
BESIDE = BackgroundLoad.model_validate({"test_case": "rpc-cast", "green_threads": 1})


@pytest.mark.parametrize(
    ("present", "following"),
    [
        (CASE.model_copy(update={"background": (BESIDE,)}), CASES[1]),
        (CASE, CASE.model_copy(update={"actions": (ACTING,)})),
    ],
    ids=["background", "actions"],
)
def test_some_cases_wait_for_the_end_of_the_present_one(
    monkeypatch: pytest.MonkeyPatch, present: Case, following: Case
) -> None:
    """After a background load, which drains later, or with actions to prepare."""
    preparing = Preparing(monkeypatch)
    assert isinstance(next_of(preparing, present, following).take(), Prepared)
    assert preparing.earliest == []


def test_a_failed_start_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error belongs to the next case, not to the one that is concluded."""
    preparing = Preparing(monkeypatch)

    def agree(_prepared: Prepared, _earliest: float) -> Agreed:
        raise HostError("learned of the start too late")

    monkeypatch.setattr(Prepared, "agree", agree)
    spoiled = next_of(preparing, CASE).take()
    assert isinstance(spoiled, Spoiled)
    with pytest.raises(HostError, match="too late"):
        spoiled.agree()
