"""Offered rates in cycles: when messages are due, the backlog after peaks, and the doubts."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from hypothesis import given
from hypothesis import strategies as st

from mqperf.base.errors import PlanError
from mqperf.lab.systems.in_plans import problems_of
from mqperf.pages.questions import ANSWERS, answers
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import parse_plan
from mqperf.record.streams.stream import Instants
from mqperf.study.stats import checks
from mqperf.study.stats.sustained import UNKNOWN, keeping_up
from mqperf.study.tables import Tables, conform
from mqperf_numbered.onhost.cycles import CycledRate
from mqperf_numbered.onhost.schedule import Schedule
from mqperf_numbered.plan.cycles import steps_of
from mqperf_numbered.study.backlog import Row
from mqperf_numbered.study.cycles import rows

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

START_NS = 1_700_000_000_000_000_000

CYCLE = "4 s at 100 then 2 s at 800"
"""1,600 messages in the peak of each 6 s."""

LOAD_S = 14
"""Two cycles and the start of a third; the window is from 1 s to 13 s."""


@given(
    st.lists(st.tuples(st.floats(1, 1e4), st.integers(1, 60)), min_size=2, max_size=6),
    st.floats(0, 0.999),
    st.integers(0, 20),
)
def test_cycles_are_due_by_the_area_below_them(
    steps: list[tuple[float, float]], phase: float, cycles: int
) -> None:
    """It holds in each step of any cycle; no message is due before its instant."""
    schedule = Schedule(CycledRate(steps), phase)
    schedule.begin(START_NS)
    passed, area = sum(lasts for _, lasts in steps) * cycles, 0.0
    area = sum(rate * lasts for rate, lasts in steps) * cycles
    for rate, lasts in steps:
        due = schedule.due(START_NS + round((passed + lasts / 2) * 1e9))
        assert abs(due - (area + rate * lasts / 2 - phase)) < 1.01
        passed, area = passed + lasts, area + rate * lasts
    number = int(area) // 2
    instants = schedule.instants_ns(number, 100)
    assert (np.diff(instants) > 0).all()
    assert schedule.due(int(instants[0]) + 5000) >= number + 1
    assert schedule.due(int(instants[0]) - 5000) <= number


PLAN = """\
systems: {{rabbitmq: {{topologies: [single]}}}}
test_cases: [publish]
load: {{generator: amqp-0-9-1, green_threads: 1, duration_s: 12, {0}}}
"""


@pytest.mark.parametrize(
    ("cycle", "problem"),
    [
        ("rate_cycle: 10 s at 200", "it is two steps or more"),
        ("rate_cycle: 1.5 s at 20 then 1 s at 30", "each whole seconds"),
        ("rate_cycle: 2 s at 20 then 1 s at 0", "a rate above 0"),
        ("rate_cycle: 2 s at 20 then 1 s at 99999999", "a rate above 0"),
        ("rate_cycle: 2 s at 20 then 1 s at 30 then 5 s at 20", "two steps one after the other"),
        ("rate_msg_s: 5, rate_cycle: 2 s at 20 then 1 s at 30", "are two rates: keep one"),
    ],
)
def test_an_invalid_cycle_is_refused(cycle: str, problem: str) -> None:
    """The error is at its key; the first step follows the last."""
    with pytest.raises(PlanError, match=r"test.yaml:3: load.rate_cycle: ") as error:
        parse_plan(PLAN.format(cycle), Path("test.yaml"), problems_of)
    assert problem in str(error.value)


def served(capacity: float, way_s: float = 0.001) -> list[Row]:
    """The rows of a run whose messages are processed one by one at ``capacity`` per second.

    Each also takes ``way_s`` to travel.
    """
    curve = CycledRate(steps_of(CYCLE))
    due = curve.after_s(np.arange(curve.due(LOAD_S)))
    place = np.arange(len(due)) / capacity
    done = place + np.maximum.accumulate(due - place) + way_s
    reading = SimpleNamespace(
        run=SimpleNamespace(
            case=SimpleNamespace(parameters={"rate_cycle": CYCLE}, threads=1),
            load=(0.0, float(LOAD_S)),
            window=(1.0, 13.0),
        ),
        done=Instants(np.column_stack([due, done])),
        accounts={},
        streams=SimpleNamespace(together=lambda _: SimpleNamespace(count=len(due))),
    )
    return [*rows(cast("Reading", reading))]


@pytest.mark.parametrize(
    ("capacity", "left", "gone"),
    [
        pytest.param(1000, [0, 0], [0, 0], id="nothing is left"),
        pytest.param(500, [600, 600], [1.5, 1.5], id="gone in the valley"),
        pytest.param(250, [1100, 1600], [None, None], id="some is left at the next peak"),
    ],
)
def test_what_a_peak_leaves_is_seen_until_it_is_gone(
    capacity: float, left: list[int], gone: list[float | None]
) -> None:
    """A backlog drains at the rate left in the valley; steps are counted in whole seconds."""
    every = served(capacity)
    spans = [(row["from_s"], row["until_s"]) for row in every]
    assert spans == [(0, 3), (3, 5), (5, 9), (9, 11), (11, 12)]
    assert [row["cycle"] for row in every] == [1, 1, 2, 2, 3]
    peaks = [row for row in every if row["step_rate_msg_s"] == 800]
    assert [row["unfinished"] for row in peaks] == pytest.approx(left, abs=3)
    for row, after in zip(peaks, gone, strict=True):
        assert row["drained_s"] == (None if after is None else pytest.approx(after, abs=0.1))
    assert not any("drained_s" in row for row in every if row["step_rate_msg_s"] == 100)


def test_messages_in_transit_are_no_backlog() -> None:
    """Messages in transit for a quarter of a second do not count; those that wait besides do."""
    for capacity, gone in ((1000, 0), (500, pytest.approx(1.5, abs=0.4)), (250, None)):
        peaks = [row for row in served(capacity, 0.25) if row["step_rate_msg_s"] == 800]
        assert [row["drained_s"] for row in peaks] == [gone, gone]


def cycled(capacity: float) -> Tables:
    """The tables of such a run: what was sent and what finished in the window."""
    shape = Shape(layouts=(("cmsm", "classic"),), test_cases=("rpc-cast",), threads=(1,), repeats=1)
    frames = tables(shape)
    key = frames["points"].iloc[0][["point", "system", "topology", "queues", "test_case"]]
    steps = pd.DataFrame(served(capacity)).assign(run=f"{key['point']}-r1", **key)
    sent, done = 3400 / 12, (steps["throughput_msg_s"] * (steps["until_s"] - steps["from_s"])).sum()
    seconds = frames["intervals"]
    rates = {"send_rate_msg_s": sent, "offered_rate_msg_s": sent, "throughput_msg_s": done / 12}
    parts = {
        "runs": frames["runs"].assign(rate_cycle=CYCLE),
        "messages": frames["messages"].assign(**rates),
        "latency": frames["latency"].assign(latency_mean_s=0.9),
        "intervals": seconds.assign(count=seconds["count"].where(seconds["start_s"].ge(3), 0)),
        "rate_cycles": conform("rate_cycles", steps),
    }
    return {**frames, **parts}


PEAKS = "CAST: at 800 msg/sec for 2 s of every 6 s, "


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("capacity", "answer", "doubts"),
    [
        (1000, "no backlog at the end of a peak.", set()),
        (500, "a backlog of up to 600 msg at the end of a peak, drained 1.5 s after it.", set()),
        (
            250,
            "a backlog of up to 1,600 msg at the end of a peak, not drained in 2 of 2 peaks before",
            {"unequal-rates"},
        ),
    ],
)
def test_cycles_are_answered_by_what_their_peaks_leave(
    capacity: float, answer: str, doubts: set[str]
) -> None:
    """A cycle is no staircase: neither a backlog in a valley nor seconds without any are doubtful.

    A backlog that never drains is.
    """
    frames = cycled(capacity)
    texts = {each.question: each.sentences for each in answers(frames, ["cycles", "saturation"])}
    [[sentence]] = texts.values()
    assert plain(sentence).startswith(PEAKS + answer)
    kinds = set(checks.doubts(frames)["kind"])
    assert kinds & {"unequal-rates", "backlog", "rate-missed", "empty-seconds"} == doubts
    unpaced = {**frames, "runs": frames["runs"].drop(columns="rate_cycle")}
    assert {"backlog", "empty-seconds"} <= set(checks.doubts(unpaced)["kind"])
    assert [*keeping_up(frames["points"], {**frames, "doubts": frames["doubts"][:0]})] == [UNKNOWN]


def test_mean_throughput_of_steps_is_no_headline() -> None:
    """It is the offered rate: no maximum, and not the effect of another kind of queue."""
    frames = cycled(1000)
    assert [each.question for each in answers(frames)] == [
        "Is the backlog of a peak drained before the next one?"
    ]
    both = pd.concat([frames["points"], frames["points"].assign(queues="quorum")])
    for name in ("scaling", "comparison"):
        assert not ANSWERS[name].asked({**frames, "points": both})


def test_a_sender_that_misses_its_cycles_is_found() -> None:
    """The offered rate is the mean over the window."""
    frames = cycled(1000)
    frames["messages"]["send_rate_msg_s"] *= 0.97
    assert "rate-missed" in set(checks.doubts(frames)["kind"])
