"""Actions that begin with a step of a creation: how they wait, and how they are checked."""

import json
import time
from pathlib import Path

import pytest
from refused import refused
from test_rpc_chain import START, case, job, written
from test_timetable import RecordedEvents, frozen, process, up

from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.processes import Process
from mqperf.hosts import LocalHost, Offset
from mqperf.lab.runner.control import ControlFolders, Station
from mqperf.lab.runner.timetable import Timetable
from mqperf.lab.systems import Node
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import ActionPlan
from mqperf.plan.file import parse_plan
from mqperf.record import Whole
from mqperf.record.instants import utc
from mqperf_openstack.lab.rpc_chain import commands
from mqperf_openstack.plan.signs import sign_of
from mqperf_openstack.study.rpc_chain import account

__all__ = ["process"]

BUILD = "build_and_run_instance"
FREEZE = {"do": "freeze-at-step", "node": "Master", "at_s": 0.0, "for_s": 0.2, "within_s": 5.0}
AT_BUILD = ActionPlan.model_validate(FREEZE | {"step": BUILD})


@pytest.mark.starts_programs
def test_action_begins_when_the_step_does(process: Process) -> None:
    """It begins no earlier, and lasts for the planned time from then on."""
    events, requested = RecordedEvents(), list[str]()
    timetable = Timetable([AT_BUILD], up(Node("Master", "mq1", process)), events)

    def sign(name: str, since: float) -> float | None:
        requested.append(name)
        return None if len(requested) < 3 else since + 1e-3

    timetable.sign = sign
    timetable.check()
    timetable.begin(time.time())
    timetable.act()
    assert requested == [f"step-{BUILD.replace('_', '-')}"] * 3
    assert frozen(process, 2)
    while timetable.due < float("inf"):
        timetable.act()
    assert frozen(process, 0)
    assert [what for what, _ in events] == ["action-began", "action-ended"]


@pytest.mark.starts_programs
def test_a_step_that_never_begins_fails_the_run(process: Process) -> None:
    """The error has the step, the time waited, and what to do."""
    hurried = ActionPlan.model_validate(FREEZE | {"step": BUILD, "within_s": 0.05})
    timetable = Timetable([hurried], up(Node("Master", "mq1", process)), RecordedEvents())
    timetable.begin(time.time())
    with pytest.raises(SystemFault, match=rf"no creation began {BUILD} within 0.05 s: raise"):
        timetable.act()


def test_signs_are_corrected_by_the_clock_of_their_host(tmp_path: Path) -> None:
    """The first sign after an instant counts; of each process the last sign is known."""
    station = Station(LocalHost(), tmp_path)
    control, clocks = ControlFolders([station]), {station.host.name: Offset(0.25, 0.0)}
    station.place({"server-1.step-a": "12.25", "server-2.step-a": "13.25", "x.step-b": "9"})
    assert control.sign(clocks, "step-a", 11.0) == 12.0
    assert control.sign(clocks, "step-a", 12.5) == 13.0
    assert control.sign(clocks, "step-a", 14.0) is None
    assert control.sign(clocks, "step-c", 0.0) is None


def test_processes_give_the_signs_of_the_plan(tmp_path: Path) -> None:
    """Signs are given by the number of the step; without such an action there are none."""
    waiting = commands(job(tmp_path, case(actions=(AT_BUILD.model_dump(),))))
    for command in waiting:
        task = json.loads(command.files[f"{command.label}.chain"])
        assert task["signs"] == {"2": sign_of(BUILD)}
    [task, _] = [
        command.files[f"{command.label}.chain"] for command in commands(job(tmp_path, case()))
    ]
    assert json.loads(task)["signs"] == {}


PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [rpc-chain]
load: {generator: rpc-chain, green_threads: 1, duration_s: 9}
actions:
- {do: kill-at-step, node: Master, at_s: 1, for_s: 2, within_s: 3, STEP}
"""


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("step: build_and_run_instances", "did you mean 'build_and_run_instance'"),
        ("x: 1", "unknown key"),
        (f"step: {BUILD}, with: 1", "unknown key"),
    ],
)
def test_wrong_steps_are_refused(step: str, words: str) -> None:
    """The error has the line of the plan, before anything runs."""
    with pytest.raises(PlanError, match=rf"(?s)here\.yaml:\d.*{words}"):
        parse_plan(PLAN.replace("STEP", step), Path("here.yaml"), problems_of)


def test_action_may_end_late_but_within_the_window() -> None:
    """The step may begin within some seconds; the action must still end within the window."""
    step = f"step: {BUILD}"
    [planned] = parse_plan(PLAN.replace("STEP", step), Path("here.yaml"), problems_of).actions
    assert (planned.within_s, planned.end_s) == (3, 6)
    late = PLAN.replace("STEP", step).replace("within_s: 3", "within_s: 8")
    refused(late, "ends 11 s after the start of a window of 9 s")


def run_with_action(folder: Path, instant: float) -> Whole:
    """A run whose second step began at 1.015 and 2.015 s, with an action at this instant."""
    run = written(folder)
    action = ActionPlan.model_validate(FREEZE | {"step": "build"})
    event = {"time": utc(START + instant), "epoch": START + instant, "host": "local"}
    event |= {"what": "action-began", "number": 1, "commanded": START + instant}
    (run.run.path / "events.jsonl").write_text(json.dumps(event) + "\n")
    return Whole(run.run, run.facts, run.case.model_copy(update={"actions": (action,)}), run.window)


def test_action_is_compared_with_the_steps(tmp_path: Path) -> None:
    """An action that did not begin with the step of a creation is reported; one that did is not."""
    assert list(account(run_with_action(tmp_path / "a", 1.015), {}).disagreements) == []
    [text] = account(run_with_action(tmp_path / "b", 1.515), {}).disagreements
    assert text == (
        "steps: freeze-at-step 1 is said to have begun with build, which the nearest creation"
        " began 0.500 s apart"
    )
