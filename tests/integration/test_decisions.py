"""Plans with ``decide`` against a real RabbitMQ, from the plan to the verdict."""

from pathlib import Path

import pytest

import mqperf
from mqperf.front.judging import Deciders
from mqperf.lab.runner import Job, Judges, Silent, sweep_all
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf.study.stats.decided import decided

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [classic, quorum]}}
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 1, payload_bytes: 64, confirms: 1, duration_s: 1,
  warmup_s: 0, cooldown_s: 0}
decide: {difference: 1, within: 5 min}
"""


@pytest.mark.usefixtures("shared")
def test_two_kinds_of_queue_are_decided(tmp_path: Path) -> None:
    """A quorum queue, which writes to three nodes, is several times slower than a classic queue.

    One message at a time: at full speed, other work on the machine decides for minutes.
    """
    job = Job(parse_plan(PLAN, Path("decide.yaml")), PLAN, tmp_path)
    [outcome] = sweep_all([job], Silent(), judges=Judges(decide=Deciders()))
    assert outcome.failed == ()
    assert outcome.done >= 4
    results = mqperf.read(tmp_path)
    repeats = results["runs"].groupby("queues")["repeat"].agg(list)
    assert repeats["classic"] == repeats["quorum"] == [*range(1, outcome.done // 2 + 1)]
    starts = results["runs"].sort_values("position")["queues"].tolist()
    assert starts[:4] == ["classic", "quorum", "quorum", "classic"]
    assert {"not-of-plan", "missing-run"}.isdisjoint(results.doubts["kind"])
    assert any("kind of queue" in answer.question for answer in results.answer.answers)
    [row] = decided(stats.complete(tables.read(tmp_path))).to_dict("records")
    assert (row["reference"], row["queues"], row["verdict"]) == ("classic", "quorum", "worse")
    assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"] < 1
    assert row["repeats"] == outcome.done / 2
