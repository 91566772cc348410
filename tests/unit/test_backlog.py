"""Consumers that start late: how long a backlog is drained, and checks of plans and records."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.base.errors import PlanError
from mqperf.lab.systems.in_plans import problems_of
from mqperf.pages.questions import ANSWERS
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import parse_plan
from mqperf.record.outputs.diary import Happened
from mqperf.record.streams.stream import Instants
from mqperf.study.tables import conform
from mqperf_numbered.study.backlog import BEGAN, Backlog, disagreements, rows

if TYPE_CHECKING:
    from mqperf.record import Whole
    from mqperf.study.tables.of_run import Reading

PLAN = """\
systems: {{rabbitmq: {{topologies: [single]}}}}
test_cases: [publish]
load: {{generator: amqp-0-9-1, green_threads: 1, rate_msg_s: 100, duration_s: 5, {0}}}
"""
LEVEL = 10.0


def drained(count: list[float], after: int) -> float | None:
    return Backlog(np.array(count), np.full(len(count), LEVEL)).drained_s(after)


def test_a_drain_ends_within_its_second() -> None:
    """The speed of the second before gives the fraction; a drain may also never end."""
    assert drained([0, 100, 200, 110, 0, 0], 2) == pytest.approx(1 + 100 / 110)
    assert drained([0, 100, 200, 105, LEVEL, 5], 2) == pytest.approx(2)
    assert drained([0, 100, 0, 0], 1) == pytest.approx(0.9)
    assert drained([0, 100, 200, 190, 180], 2) is None


def test_messages_under_way_may_increase() -> None:
    """A higher send rate raises the level at which the backlog counts as drained."""
    backlog = Backlog(np.array([0.0, 100.0, 60.0, 60.0, 70.0]), np.array([0, 10, 10, 10, 90.0]))
    assert backlog.drained_s(1) == 2


@pytest.mark.parametrize(("bound_s", "drains"), [(0.0001, [None]), (0.05, [])])
def test_messages_on_a_link_are_no_backlog(bound_s: float, drains: list[None]) -> None:
    """At 1,000 messages a second that take 0.25 s, some 250 are always under way."""
    due = np.arange(0.0, 8.0, 0.001)
    sent, received = (Instants(np.column_stack([due, at])) for at in (due, due + 0.25))
    clock = SimpleNamespace(before=SimpleNamespace(bound_s=bound_s))
    case = SimpleNamespace(parameters={"consume_after_s": 3}, link=None, threads=1, warmup_s=0)
    reading = SimpleNamespace(
        run=SimpleNamespace(
            case=case, load=(0.0, 8.0), facts=SimpleNamespace(clocks={"h1": clock})
        ),
        done=received,
        accounts={},
        streams=SimpleNamespace(together=lambda _: sent, has=lambda _: False),
    )
    found = [*rows(cast("Reading", reading))]
    draining = [row["drained_s"] for row in found if row["backlog_phase"] == "draining"]
    assert draining == drains


def test_no_backlog_is_drained_at_once() -> None:
    """A backlog no larger than what is always under way is drained in 0 s."""
    assert drained([0, 4, 8, 8], 2) == 0


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("consume_after_s: 8", "consumers that start after 8 s miss a load of 8 s"),
        ("consume_after_s: [3, 9]", "consumers that start after 9 s"),
        ("consume_after_s: 0", "expected at least 1"),
        ("consume_after_s: 2, message_count: 100", "a load by message_count may end before"),
    ],
    ids=["at its end", "one of two", "none", "by count"],
)
def test_consumers_start_within_the_load(option: str, problem: str) -> None:
    """Any other plan is refused, and the error names the key."""
    with pytest.raises(PlanError, match="consume_after_s") as caught:
        parse_plan(PLAN.format(option), Path("late.yaml"), problems_of)
    assert problem in str(caught.value)


def found(received: list[float], noted: list[float], after: object = 3) -> list[str]:
    """Disagreements of a run of one server that began at 100 s and should consume from 103 s."""
    process = SimpleNamespace(label="server-1", kind="server")
    run = SimpleNamespace(
        case=SimpleNamespace(parameters={"consume_after_s": after}),
        facts=SimpleNamespace(processes=[process]),
        load=(100.0, 108.0),
        began=lambda _label: 100.0,
    )
    messages = Instants(np.array([[100.0, instant] for instant in received]))
    notes = [Happened("server-1", instant, BEGAN) for instant in noted]
    streams: Any = {"server-1": {"received": messages}}
    return [*disagreements(cast("Whole", run), streams, notes)]


def test_consumers_that_started_as_planned_are_sound() -> None:
    """Neither they nor runs without ``consume_after_s`` have disagreements."""
    assert found([103.01, 104.0], [103.02]) == []
    assert found([100.1], [], after=None) == []


def test_consumers_that_did_not_wait_are_found() -> None:
    """Early messages, a late note in the diary and a missing note are all found."""
    assert found([102.9, 104.0], [103.0]) == ["server-1: 1 received before consumers were to start"]
    assert found([105.0], [104.5]) == ["server-1: started to consume 4.5 s, and was to after 3 s"]
    assert found([105.0], []) == ["server-1: started to consume never, and was to after 3 s"]


def test_the_answer_has_known_figures_of_a_drain_only() -> None:
    """It has no rate of part of a second and no percentiles, but counts of runs, and doubts."""
    shape = Shape((("cmsm", "classic"),), ("rpc-cast",), threads=(1,), repeats=2)
    frames = tables(shape)
    keys = ["run", "point", "system", "topology", "queues", "test_case", "threads", "repeat"]
    first, second = frames["messages"][keys].to_dict("records")
    phases = {"send_rate_msg_s": 1000.0, "throughput_msg_s": 4000.0, "waiting": 3000}
    rows = [{**first, "backlog_phase": name} for name in ("building", "draining", "steady")]
    rows += [{**second, "backlog_phase": name} for name in ("building", "steady")]
    backlog = pd.DataFrame(rows).assign(**phases)
    drained_s = backlog["backlog_phase"].eq("draining").map({True: 0.4, False: np.nan})
    doubts = frames["doubts"][:1].assign(kind="lost", point=first["point"])
    found = {"backlog": conform("backlog", backlog.assign(drained_s=drained_s)), "doubts": doubts}
    answer = ANSWERS["backlog"].answer({**frames, **found})
    assert answer is not None
    assert "".join(map(plain, answer.sentences)) == (
        "CAST: a backlog of 3,000 msg, in 1 of 2 runs, is drained in less than 1 s. Publishers send"
        " 1,000, 1,000 and 1,000 msg/sec before, during and after the drain. Doubted: lost."
    )
