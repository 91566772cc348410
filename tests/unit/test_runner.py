"""The runner with a generator that replays a recorded run: order, overlap, failure, interruption.

No broker is needed, and all processes are real.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from mqperf_toys import replay, system
from typing_extensions import override

from mqperf.load import GENERATORS, Generator
from mqperf.plan import Case
from mqperf.plan_file import parse_plan
from mqperf.record import Run, read_events, runs
from mqperf.runner import Silent, loads, phases, sweep
from mqperf.runner.plans import Outcome
from mqperf.systems import SYSTEMS

PLAN = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-call, rpc-cast]
load: {generator: replay, green_threads: [1], duration_s: 1, warmup_s: 0, cooldown_s: 0,
  timeout_s: 1}
"""
PHASES = ("getting ready", "warming up", "measuring", "draining")

Measure = Callable[..., Outcome]


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Measure]:
    """Sweep with the toys, and look afterwards that nothing of theirs is left."""
    monkeypatch.setitem(SYSTEMS._values, "toy", system.SYSTEM)
    before = set(psutil.Process().children(recursive=True))

    def measured(observer: Silent, generator: Generator = replay.GENERATOR) -> Outcome:
        monkeypatch.setitem(GENERATORS._values, "replay", generator)
        return sweep(parse_plan(PLAN, Path("toy.yaml")), PLAN, tmp_path, observer)

    yield measured
    left = set(psutil.Process().children(recursive=True)) - before
    assert not [one for one in left if "player.py" in " ".join(one.cmdline())]


class Told(Silent):
    """What was told, in that order; with ``interrupt`` the first such phase is Ctrl-C."""

    def __init__(self, interrupt: tuple[str, str] | None = None) -> None:
        self.said: list[tuple[str, str]] = []
        self.interrupt = interrupt

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if case is None:
            return
        self.said.append((what, case.test_case))
        if (what, case.test_case) == self.interrupt:
            raise KeyboardInterrupt

    @override
    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        self.said.append(("failed" if failure else "done", case.test_case))


def statuses(folder: Path) -> list[str]:
    return sorted(run.status for run in runs(folder))


def events(run: Run) -> list[str]:
    return [event.what for event in read_events(run.path)]


def test_cases_follow_each_other_through_all_phases(measure: Measure, tmp_path: Path) -> None:
    """In the order of the plan, each with every phase, and every event in its place."""
    told = Told()
    assert measure(told).failed == ()
    expected = [(phase, case) for case in ("rpc-call", "rpc-cast") for phase in (*PHASES, "done")]
    assert told.said == expected
    for run in runs(tmp_path):
        assert events(run) == ["provisioned", "started", "start", "measured", "drained", "stopped"]


def test_the_next_case_starts_while_one_drains(measure: Measure, tmp_path: Path) -> None:
    """Its processes come up before those of the case before have ended."""
    measure(Told())
    first, second = sorted(runs(tmp_path), key=lambda run: run.facts().position or 0)
    started = instant(second, "started")
    assert instant(first, "measured") <= started <= instant(first, "stopped")
    assert instant(second, "start") >= instant(first, "stopped") - 1


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
    """Both cases fail, each for itself with the reason; the same command completes them."""
    monkeypatch.setattr(phases, "EXIT_MARGIN_S", 0.5)
    monkeypatch.setattr(loads, "DRAIN_QUIET_S", 0.5)
    failed = measure(Told(), replay.faulty(**faults)).failed
    assert [reason.startswith(words) for _, reason in failed] == [True, True]
    assert statuses(tmp_path) == ["failed", "failed"]
    assert measure(Told()).done == 2
    assert statuses(tmp_path) == ["done", "done", "failed", "failed"]


@pytest.mark.parametrize("phase", PHASES)
def test_an_interruption_in_any_phase_loses_nothing(
    measure: Measure, tmp_path: Path, phase: str
) -> None:
    """The attempt is set aside, the one that was starting forgotten, and both are tried again."""
    with pytest.raises(KeyboardInterrupt):
        measure(Told(interrupt=(phase, "rpc-call")))
    assert statuses(tmp_path) == ["interrupted"]
    assert measure(Told()).done == 2
    assert statuses(tmp_path) == ["done", "done", "interrupted"]


def test_what_was_measured_before_an_interruption_stays(measure: Measure, tmp_path: Path) -> None:
    """Only the second case is measured again."""
    with pytest.raises(KeyboardInterrupt):
        measure(Told(interrupt=("measuring", "rpc-cast")))
    assert statuses(tmp_path) == ["done", "interrupted"]
    told = Told()
    assert measure(told).done == 1
    assert {case for _, case in told.said} == {"rpc-cast"}
