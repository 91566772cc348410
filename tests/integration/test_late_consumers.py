"""Consumers that start late on a real RabbitMQ: the backlog, its drain, and expected doubts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from one_rabbitmq import used_by_sweeps
from patience import DOUBTS_OF_A_BUSY_MACHINE, all_due

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.pages.questions import answers
from mqperf.pages.questions.words import grouped
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf.study.stats import checks

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
load:
  generator: amqp-0-9-1
  green_threads: 2
  rate_msg_s: 400
  consume_after_s: 3
  duration_s: 5
  warmup_s: 1
  cooldown_s: 1
"""
EXPECTED_DOUBTS = {"unequal-rates", "backlog", "empty-seconds"}
"""The doubts about a backlog that the plan does not ask for."""


@pytest.fixture(scope="module")
def late(
    rabbitmq: PrivateCluster, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pd.DataFrame]:
    """A run of seven seconds with consumers in the last four."""
    folder = tmp_path_factory.mktemp("late")
    with used_by_sweeps(rabbitmq):
        outcome = sweep(parse_plan(PLAN, Path("late.yaml")), PLAN, folder, Silent())
    assert outcome.failed == ()
    return stats.complete(tables.read(folder))


def test_a_backlog_is_as_large_as_what_was_sent(late: dict[str, pd.DataFrame]) -> None:
    """Every message arrives; the messages of the first three seconds wait and are counted apart."""
    counts = late["messages"].iloc[0]
    assert (counts["sent"], counts["received"]) == (2800, 2800)
    assert (counts["lost"], counts["duplicates"]) == (0, 0)
    phases = late["backlog"].set_index("backlog_phase")
    assert all_due([phases["waiting"].to_dict()["draining"]], 1200)
    assert phases.loc["building", "throughput_msg_s"] == 0
    assert phases.loc["building", "from_s"] == -1
    assert phases.loc["draining", "from_s"] == 2
    assert phases["latency_p50_s"].to_dict()["building"] > 1
    assert "consuming" in set(late["events"]["what"])


def test_a_backlog_that_was_asked_for_is_no_doubt(late: dict[str, pd.DataFrame]) -> None:
    """Nor are the seconds before consumers start; the even rates afterwards are planted."""
    assert set(late["doubts"]["kind"]) <= DOUBTS_OF_A_BUSY_MACHINE
    even = {name: frame.copy() for name, frame in late.items()}
    even["messages"]["throughput_msg_s"] = 1.2 * even["messages"]["send_rate_msg_s"]
    later = even["intervals"]["stream"].eq("received") & even["intervals"]["start_s"].ge(2)
    even["intervals"].loc[later, "count"] = 600
    assert not EXPECTED_DOUBTS & {*checks.doubts(even)["kind"]}
    [answer] = [
        answer for answer in answers(late) if answer.question.startswith("How fast is a backlog")
    ]
    waited = late["backlog"]["waiting"].max()
    assert f"a backlog of {grouped(waited)} msg" in plain(answer.sentences[0])
    assert answer.drawing is not None
    [line] = answer.drawing.figure().axes[0].lines
    times, counts = (np.asarray(data, dtype=float) for data in line.get_data())
    waiting = dict(zip(times, counts, strict=True))
    assert waiting[0] == waited > 2 * waiting[4]


def test_other_doubts_are_still_raised(late: dict[str, pd.DataFrame]) -> None:
    """A backlog that stays, a pause after the consumers started, and a loss are found."""
    frames = {name: frame.copy() for name, frame in late.items()}
    frames["messages"]["throughput_msg_s"] = 0.5 * frames["messages"]["send_rate_msg_s"]
    assert "unequal-rates" in set(checks.doubts(frames)["kind"])
    paused = {name: frame.copy() for name, frame in late.items()}
    rows = paused["intervals"]["stream"].eq("received") & paused["intervals"]["start_s"].eq(3)
    paused["intervals"].loc[rows, "count"] = 0
    assert "empty-seconds" in set(checks.doubts(paused)["kind"])
    lost = {name: frame.copy() for name, frame in late.items()}
    lost["messages"]["received"] -= 100
    lost["messages"]["lost"] = 100
    assert "lost" in set(checks.doubts(lost)["kind"])
