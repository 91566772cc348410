"""Creations over a real RabbitMQ: measured, recorded, read, shown, and failing clearly."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from one_rabbitmq import used_by_sweeps
from typing_extensions import override

from mqperf.lab.runner import Silent, sweep
from mqperf.lab.runner.plans import Outcome
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.pages.report.build import build
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.study import stats, tables
from mqperf.study.tables import Tables
from mqperf_laboratory.hosts import Laboratory
from mqperf_openstack.plan.chain import find

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [classic]}}
test_cases: [rpc-chain]
load: {generator: rpc-chain, green_threads: 2, duration_s: 3, warmup_s: 1, timeout_s: 5}
"""
KILLED, SLOW = 0.001, 200
"""Scales of processing times at which the agents are killed, and the scheduler needs 10 s."""

SEVERAL = PLAN.replace("timeout_s", f"processing_scale: [0.2, {KILLED}, {SLOW}], timeout_s")
BESIDE = "background: [{test_case: rpc-cast, green_threads: 1, pause_s: 0.1}]\n"
CHAIN = find("vm-creation")


class Killer(Silent):
    """Kills the agents of one case when its window begins."""

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        scale = None if case is None else case.parameters.get("processing_scale")
        if what == "measuring" and scale == KILLED:
            family = psutil.Process().children(recursive=True)
            [agents] = [
                p.pid for p in family if any("server-1.chain" in word for word in p.cmdline())
            ]
            os.kill(agents, signal.SIGKILL)


def measured(text: str, folder: Path, hosts: Path | None = None) -> Outcome:
    plan = parse_plan(text, Path("test.yaml"), problems_of)
    place = None if hosts is None else str(hosts)
    return sweep(plan, text, folder, Killer(), hosts=place)


@dataclass(frozen=True)
class Recorded:
    """The folder of a sound run, and the failures of the others by their processing scale."""

    folder: Path
    failures: dict[object, str]


@pytest.fixture(scope="module")
def recorded(rabbitmq: PrivateCluster, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Creations that succeed, that lose their agents, and that take too long."""
    folder = tmp_path_factory.mktemp("chain")
    with used_by_sweeps(rabbitmq):
        outcome = measured(SEVERAL + BESIDE, folder)
    failures: dict[object, str] = {}
    for run, failure in outcome.failed:
        case = run.facts().case
        assert case is not None
        failures[case.parameters["processing_scale"]] = failure
    return Recorded(folder, failures)


@pytest.fixture(scope="module")
def frames(recorded: Recorded) -> Tables:
    """The tables of the folder; failed attempts have no figures."""
    return stats.complete(tables.read(recorded.folder))


def test_every_creation_is_accounted_for(frames: Tables) -> None:
    """Each reached its agent and ended; the background load has its own table."""
    [row] = frames["messages"].to_dict("records")
    assert row["sent"] == row["received"] == row["round_trip"] > 0
    assert (row["lost"], row["errors"], row["duplicates"], row["foreign"]) == (0, 0, 0, 0)
    assert frames["messages"]["disagreements"].isna().all()
    assert frames["background"]["received"].gt(0).all()


def test_its_steps_are_those_of_the_chain(frames: Tables) -> None:
    """They are in order, every creation has each of them, and they add up to its time."""
    steps, latency = frames["steps"], frames["latency"]
    assert list(steps["step"][:-1]) == [step.step for step in CHAIN.steps]
    assert steps["samples"].nunique() == 1
    assert steps["samples"].eq(latency["samples"].iloc[0]).all()
    assert steps["latency_mean_s"].gt(0).all()
    assert steps["creation_share"].sum() == pytest.approx(1)
    whole = (steps["latency_mean_s"] * steps["creation_share"].notna()).sum()
    assert whole == pytest.approx(latency["latency_mean_s"].iloc[0])


def test_a_sound_run_raises_no_doubt_about_its_counts(frames: Tables) -> None:
    """Nothing in its record contradicts itself."""
    kinds = set(frames["doubts"]["kind"])
    assert not kinds & {
        *("record-disagrees", "causality", "incomplete", "received-not-sent", "lost"),
        *("roundtrip-not-received", "client-errors", "changed-record", "background-load"),
    }


def test_the_page_counts_creations(frames: Tables, tmp_path: Path) -> None:
    """The page names their unit, their steps and the effect of a link."""
    build(frames, tmp_path / "report", title="t", html=False)
    page = (tmp_path / "report" / "rabbitmq" / "cmsm" / "index.rst").read_text()
    assert "creations/sec" in page
    assert "msg/sec" not in page.split("Background load")[0]
    assert "What a creation is made of" in page
    assert "11 round trips" in " ".join(page.split())
    assert "RPC CALL Throughput Test" not in page


def test_a_step_that_takes_too_long_is_named(recorded: Recorded) -> None:
    """If no creation ends, the failure names the step."""
    failure = recorded.failures[SLOW]
    assert "messages failed" in failure
    assert "a creation failed: " in failure
    assert "select_destinations" in failure


def test_dead_agents_fail_the_run_by_name(recorded: Recorded) -> None:
    """The run fails at once, before creations time out one by one."""
    failure = recorded.failures[KILLED]
    assert failure.startswith("server-1 died")


def test_agents_may_be_far_away(five_hosts: Laboratory, tmp_path: Path) -> None:
    """Agents run on other hosts, which share the machine's clock: no step is uncertain."""
    text = PLAN.replace("cmsm", "single")
    assert measured(text, tmp_path, five_hosts.inventory).failed == ()
    frames = tables.read(tmp_path)
    steps = frames["steps"].iloc[:-1]
    assert frames["messages"]["lost"].eq(0).all()
    assert steps["latency_uncertainty_s"].eq(0).all()
    assert frames["messages"]["disagreements"].isna().all()
