"""When messages are due, and the rate offered in a window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqperf.onhost.load.curves import SteppedRate
from mqperf.plan import Case
from mqperf_numbered.onhost.curves import Ramp, Steady
from mqperf_numbered.onhost.schedule import Schedule
from mqperf_numbered.plan.paced import Paced

START_NS = 1_700_000_000_000_000_000


@given(st.floats(0.01, 1e6), st.floats(0, 0.999), st.integers(0, 10**6), st.integers(1, 1000))
def test_a_message_is_due_from_its_instant_on(
    rate: float, phase: float, number: int, count: int
) -> None:
    """The number of due messages is the number of instants that have passed."""
    schedule = Schedule(Steady(rate), phase)
    schedule.begin(START_NS)
    instants = schedule.instants_ns(number, count)
    assert instants[0] == schedule.instant_ns(number)
    tick = 2000  # of float64, at a million messages
    assert schedule.due(int(instants[-1]) + tick) >= number + count
    assert schedule.due(int(instants[0]) - tick) <= number
    assert (np.diff(instants) > 0).all()


def test_nothing_moves_the_schedule() -> None:
    """After a minute, or after any pause, messages are due at the same instants."""
    schedule = Schedule(Steady(20_000))
    schedule.begin(START_NS)
    assert schedule.due(START_NS + 60 * 10**9) == 1_200_001
    assert schedule.instant_ns(1_200_000) == START_NS + 60 * 10**9


@given(st.floats(1, 1e5), st.floats(1, 1e5), st.floats(1, 600), st.floats(0, 0.999))
def test_a_ramp_changes_the_rate_evenly(
    first: float, last: float, over_s: float, phase: float
) -> None:
    """Up or down, the messages due are the area below the line; then the rate is constant."""
    ramp = Schedule(Ramp(first, last, over_s), phase)
    ramp.begin(START_NS)
    for share in (0.0, 0.1, 0.5, 0.99, 1.0):
        passed = share * over_s
        area = passed * (first + (last - first) * share / 2)
        assert abs(ramp.due(START_NS + round(passed * 1e9)) - (area - phase)) < 1.01
    after = ramp.due(START_NS + round((over_s + 10) * 1e9))
    assert abs(after - ((first + last) / 2 * over_s + 10 * last - phase)) < 1.01
    number = after // 2
    [instant] = ramp.instants_ns(number, 1)
    assert ramp.due(int(instant) + 2000) >= number + 1
    assert ramp.due(int(instant) - 2000) <= number
    assert (np.diff(ramp.instants_ns(0, 2000)) > 0).all()


@given(
    *(st.floats(1, 1e5), st.floats(1, 1e5), st.floats(1, 600)),
    *(st.integers(2, 40), st.floats(0, 0.999)),
)
def test_stairs_change_the_rate_in_steps(
    first: float, last: float, over_s: float, steps: int, phase: float
) -> None:
    """Steps are equally long, from the first rate to the last, which is then constant."""
    stairs = Schedule(SteppedRate(first, last, over_s, steps), phase)
    stairs.begin(START_NS)
    rates = [first + (last - first) * step / (steps - 1) for step in range(steps)]
    for step, rate in enumerate(rates):
        area = sum(rates[:step]) * over_s / steps + rate * 0.5 * over_s / steps
        passed = (step + 0.5) * over_s / steps
        assert abs(stairs.due(START_NS + round(passed * 1e9)) - (area - phase)) < 1.01
    after = stairs.due(START_NS + round((over_s + 10) * 1e9))
    assert abs(after - (sum(rates) / steps * over_s + 10 * last - phase)) < 1.01
    for number in (0, after // 3, after - 1):
        [instant] = stairs.instants_ns(number, 1)
        assert stairs.due(int(instant) + 2000) >= number + 1
        assert stairs.due(int(instant) - 2000) <= number


@pytest.mark.parametrize(
    ("parameters", "window", "offered"),
    [
        ({"rate_msg_s": 900.0}, (2, 10), 900),
        ({"thread_rate_msg_s": 40.0}, (2, 10), 120),
        ({"rate_msg_s": 200.0, "ramp_to_msg_s": 1000.0}, (2, 7), 560),
        ({"rate_msg_s": 200.0, "ramp_to_msg_s": 1000.0, "ramp_steps": 2}, (0, 5), 200),
        ({"rate_msg_s": 200.0, "ramp_to_msg_s": 1000.0, "ramp_steps": 2}, (2, 10), 700),
        ({}, (2, 10), None),
    ],
    ids=["of all", "of each", "evenly", "first step", "both steps", "unpaced"],
)
def test_what_a_window_is_offered(
    parameters: dict[str, object], window: tuple[float, float], offered: float | None
) -> None:
    """It is the mean over its seconds, of a load of ten, also for a run that was cut short."""
    fixed = {"system": "any", "topology": "any", "queues": "any", "test_case": "publish"}
    load = {"green_threads": 3, "duration_s": 8, "warmup_s": 1, "cooldown_s": 1}
    case = Case.model_validate({**fixed, **load, "parameters": parameters})
    rate = Paced.model_validate(parameters).offered_msg_s(case, window)
    assert rate == (None if offered is None else pytest.approx(offered))


def test_threads_that_share_a_rate_send_in_turn() -> None:
    """Four threads of 250 messages a second are as regular as one of 1,000."""
    every = [Schedule(Steady(250), place / 4) for place in range(4)]
    for schedule in every:
        schedule.begin(START_NS)
    instants = np.sort(np.concatenate([schedule.instants_ns(0, 250) for schedule in every]))
    assert (np.diff(instants) == 10**6).all()


@given(st.floats(1, 1e5), st.floats(1, 1e5), st.integers(2, 100))
def test_steps_by_ratio_are_each_as_many_times_higher(
    first: float, last: float, steps: int
) -> None:
    """Rates grow by a constant factor from the first to the last."""
    rates = SteppedRate(first, last, 10.0, steps, by_ratio=True).rates
    ratios = rates[1:] / rates[:-1]
    assert ratios == pytest.approx([(last / first) ** (1 / (steps - 1))] * (steps - 1))
    assert [rates[0], rates[-1]] == pytest.approx([first, last])
