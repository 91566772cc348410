"""Staircases of offered rates on a real RabbitMQ that sustains all of them."""

from pathlib import Path

import pytest
from one_rabbitmq import used_by_sweeps
from patience import DOUBTS_OF_A_BUSY_MACHINE

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.pages.questions import answers
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf.study.stats import checks

pytestmark = pytest.mark.needs_rabbitmq

STEPS, FIRST, LAST = 6, 10, 40
PLAN = f"""\
systems: {{rabbitmq: {{topologies: [cmsm]}}}}
test_cases: [CASE]
load:
  generator: GENERATOR
  green_threads: 5
  rate_msg_s: {FIRST}
  ramp_to_msg_s: {LAST}
  ramp_steps: {STEPS}
  ramp_steps_by: ratio
  duration_s: 4
  warmup_s: 1
  cooldown_s: 1
"""


@pytest.mark.parametrize(
    ("generator", "case"), [("simulator", "rpc-call"), ("amqp-0-9-1", "publish")]
)
def test_each_step_is_offered_and_kept(
    rabbitmq: PrivateCluster, tmp_path: Path, generator: str, case: str
) -> None:
    """Each step is a second; steps without unfinished messages were sustained, up to the highest.

    That nothing is left is planted: a pause of a busy machine at the end of a step leaves some.
    """
    text = PLAN.replace("GENERATOR", generator).replace("CASE", case)
    with used_by_sweeps(rabbitmq):
        outcome = sweep(parse_plan(text, Path("stairs.yaml")), text, tmp_path, Silent())
    assert outcome.failed == ()
    frames = tables.read(tmp_path)
    assert set(checks.doubts(frames)["kind"]) <= DOUBTS_OF_A_BUSY_MACHINE
    steps = frames["rate_steps"]
    rates = [FIRST * (LAST / FIRST) ** (step / (STEPS - 1)) for step in range(1, STEPS - 1)]
    assert steps["step_rate_msg_s"].tolist() == pytest.approx(rates)
    assert steps["from_s"].tolist() == [0, 1, 2, 3]
    assert steps["latency_mean_s"].notna().all()
    assert steps["unfinished"].le(steps["step_rate_msg_s"].cumsum().round()).all()
    [answer] = answers(stats.complete({**frames, "rate_steps": steps.assign(unfinished=0)}))
    [sentence] = map(plain, answer.sentences)
    assert f"at least {max(rates):.3g} msg/sec" in sentence
