"""The runner with a generator that replays a recorded run: order, overlap, failure, interruption.

No broker is needed, and all processes are real.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from interrupted import Interrupted
from mqperf_toys import replay, system
from mqperf_toys.known import known
from pydantic import JsonValue
from typing_extensions import override

from mqperf.base.errors import HostLost, SystemFault
from mqperf.hosts import HostFolder
from mqperf.lab.actions import ACTIONS, Action, ActionFacts, Target
from mqperf.lab.load import Launcher
from mqperf.lab.runner import Silent, loads, phases, sweep
from mqperf.lab.runner.plans import Outcome
from mqperf.lab.systems import Deployment
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.record import Run, read_events, runs

pytestmark = pytest.mark.starts_programs

PLAN = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-call, rpc-cast]
load: {generator: replay, green_threads: [1], duration_s: 1, warmup_s: 0, cooldown_s: 0,
  timeout_s: 1}
"""
PHASES = ("getting ready", "warming up", "measuring", "draining")

Measure = Callable[..., Outcome]


@contextmanager
def measuring(folder: Path) -> Iterator[Measure]:
    """Run sweeps with the toys; afterwards assert that no process or file of theirs is left."""
    before = set(psutil.Process().children(recursive=True))
    with pytest.MonkeyPatch.context() as patch:

        def measured(
            observer: Silent, launcher: Launcher = replay.LAUNCHER, more: str = ""
        ) -> Outcome:
            known(patch, launcher)
            text = PLAN + more
            return sweep(parse_plan(text, Path("toy.yaml")), text, folder, observer)

        yield measured
    left = set(psutil.Process().children(recursive=True)) - before
    assert not [process for process in left if "player.py" in " ".join(_words(process))]


def _words(process: psutil.Process) -> list[str]:
    """The command line of a process; empty if it has ended meanwhile."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:  # zombies have none
        return []


@pytest.fixture
def measure(tmp_path: Path) -> Iterator[Measure]:
    """Run sweeps in a folder of the test's own."""
    with measuring(tmp_path) as measured:
        yield measured


class Listener(Silent):
    """Records all notifications in their order; raises KeyboardInterrupt at phase ``interrupt``."""

    def __init__(self, interrupt: tuple[str, str] | None = None) -> None:
        self.steps: list[tuple[str, str]] = []
        self.interrupt = interrupt

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if case is None:
            return
        self.steps.append((what, case.test_case))
        if (what, case.test_case) == self.interrupt:
            raise KeyboardInterrupt

    @override
    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        self.steps.append(("failed" if failure else "done", case.test_case))


def statuses(folder: Path) -> list[str]:
    return sorted(run.status for run in runs(folder))


def events(run: Run) -> list[str]:
    return [event.what for event in read_events(run.path)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Listener, list[Run]]:
    """The observer of a sweep in which nothing fails, and its runs in order."""
    folder, observer = tmp_path_factory.mktemp("whole"), Listener()
    with measuring(folder) as measure:
        assert measure(observer).failed == ()
    return observer, sorted(runs(folder), key=lambda run: run.facts().position or 0)


def test_cases_follow_each_other_through_all_phases(whole: tuple[Listener, list[Run]]) -> None:
    """Cases have the plan's order, every phase, and every event in its place.

    The second case is prepared while the first concludes, unless the machine is too busy.
    """
    observer, recorded = whole
    expected = [(phase, case) for case in ("rpc-call", "rpc-cast") for phase in (*PHASES, "done")]
    second = PHASES[0], "rpc-cast"
    steps = [step for step in observer.steps if step != second]
    assert steps == [step for step in expected if step != second]
    for run in recorded:
        assert events(run) == ["provisioned", "started", "start", "measured", "drained", "stopped"]


def test_the_next_case_starts_while_one_drains(whole: tuple[Listener, list[Run]]) -> None:
    """Its processes start before those of the previous case end; its window starts afterwards."""
    _, [first, second] = whole
    started = instant(second, "started")
    assert instant(first, "measured") <= started <= instant(first, "stopped")
    assert instant(second, "start") >= instant(first, "drained")
    window = second.facts().window
    assert window is not None
    assert window.start >= instant(first, "stopped")


def instant(run: Run, what: str) -> float:
    [at] = [event.epoch for event in read_events(run.path) if event.what == what]
    return at


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({"client_1": "start"}, "client-1 died with exit code 1; its last line: a fault at the"),
        ({"server_1": "start"}, "server-1 died with exit code 1; its last line: a fault at the"),
        ({"client_1": "load"}, "client-1 ended with exit code 1; its last line: a fault under"),
        ({"server_1": "load"}, "server-1 ended with exit code 1; its last line: a fault under"),
        ({"client_1": "silence"}, "client-1 did not end in time; its log is empty"),
        ({"server_1": "silence"}, "server-1 did not end in time; its log is empty"),
    ],
    ids=lambda value: str(value).replace(" ", "")[:30],
)
def test_a_process_that_fails_costs_its_run_alone(
    measure: Measure,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    faults: dict[str, str],
    words: str,
) -> None:
    """Both cases fail independently, each with its reason."""
    if "silence" in faults.values():  # do not wait long for processes that never end
        monkeypatch.setattr(phases, "EXIT_MARGIN_S", 2)
        monkeypatch.setattr(loads, "DRAIN_QUIET_S", 0.5)
    failed = measure(Listener(), replay.faulty(**faults)).failed
    assert [reason.startswith(words) for _, reason in failed] == [True, True]
    assert statuses(tmp_path) == ["failed", "failed"]


def test_what_failed_is_measured_by_the_same_command(measure: Measure, tmp_path: Path) -> None:
    """Failed attempts are kept beside the completed runs."""
    assert len(measure(Listener(), replay.faulty(client_1="start")).failed) == 2
    assert measure(Listener()).done == 2
    assert statuses(tmp_path) == ["done", "done", "failed", "failed"]


@pytest.mark.parametrize("phase", PHASES)
def test_an_interruption_in_any_phase_loses_nothing(
    measure: Measure, tmp_path: Path, phase: str
) -> None:
    """The attempt is set aside, the starting one discarded, and both cases are run again."""
    with pytest.raises(KeyboardInterrupt):
        measure(Listener(interrupt=(phase, "rpc-call")))
    assert statuses(tmp_path) == ["interrupted"]
    assert measure(Listener()).done == 2
    assert statuses(tmp_path) == ["done", "done", "interrupted"]


@contextmanager
def snagging(_target: Target) -> Iterator[ActionFacts]:
    """An action that begins, and cannot be undone."""
    yield {}
    raise SystemFault("it does not come off")


def test_an_action_that_cannot_be_undone_does_not_go_on_after_an_interruption(
    measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempt is set aside all the same, and the next case is not started."""
    action = Action("snag", "given what does not come off", lambda _target: None, snagging)
    monkeypatch.setitem(ACTIONS._values, "snag", action)
    observer = Listener(interrupt=("measuring", "rpc-call"))
    with pytest.raises(KeyboardInterrupt):
        measure(observer, more="actions: [{do: snag, node: Toy, at_s: 0, for_s: 1}]\n")
    [run] = runs(tmp_path)
    assert run.status == "interrupted"
    assert events(run)[-2:] == ["action-ended", "interrupted"]
    assert observer.steps[-1] == ("measuring", "rpc-call")


@pytest.mark.parametrize(
    ("observer", "left"),
    [(Listener(("measuring", "rpc-call")), "interrupted"), (Interrupted(after=1), "done")],
    ids=["while a case is measured", "between two cases"],
)
def test_a_system_that_does_not_end_well_is_not_started_anew_after_an_interruption(
    measure: Measure,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    observer: Silent,
    left: str,
) -> None:
    """The waiting case is not recorded as failed because of it."""
    started, toy = [], system.SYSTEM

    @contextmanager
    def stuck(
        settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
    ) -> Iterator[Deployment]:
        started.append(settings)
        with toy.start(settings, host_folders) as deployment, ExitStack() as ending:
            ending.callback(_cannot_end)
            yield deployment

    monkeypatch.setattr(system, "SYSTEM", replace(toy, start=stuck))
    with pytest.raises(KeyboardInterrupt):
        measure(observer)
    assert statuses(tmp_path) == [left]
    assert len(started) == 1


def _cannot_end() -> None:
    raise HostLost("broker does not answer")


def test_what_was_measured_before_an_interruption_stays(measure: Measure, tmp_path: Path) -> None:
    """Only the second case is measured again."""
    with pytest.raises(KeyboardInterrupt):
        measure(Listener(interrupt=("measuring", "rpc-cast")))
    assert statuses(tmp_path) == ["done", "interrupted"]
    observer = Listener()
    assert measure(observer).done == 1
    assert {case for _, case in observer.steps} == {"rpc-cast"}
