"""A sweep: every case of a plan that has no whole run yet, one after the other."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from mqperf.errors import MqperfError, RecordError, SystemFault
from mqperf.hosts import LocalHost
from mqperf.load import environments
from mqperf.plan import Case, Plan
from mqperf.record import Run, pending, recording
from mqperf.runner.observer import Observer
from mqperf.runner.trial import Bench, Trial
from mqperf.systems import SYSTEMS, check_plan
from mqperf.version import version


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sweep."""

    done: int
    failed: tuple[tuple[Run, str], ...]


def sweep(plan: Plan, text: str, runs: Path, observer: Observer) -> Outcome:
    """Run what is pending of ``plan`` into the folder ``runs``; ``text`` is the plan as given.

    A failed run is recorded with its reason and the sweep goes on.  With nothing pending the folder
    is not touched.  Raises ``SystemFault`` when a system cannot be had at all, ``PlanError`` when
    it lacks what the plan asks, ``RecordError`` when the folder is in use or cannot be written.
    Must be called from a thread that lives until it returns.
    """
    check_plan(plan)
    cases = plan.cases()
    if not pending(runs, cases):
        observer.planned([], len(cases))
        return Outcome(0, ())
    done = 0
    failed: list[tuple[Run, str]] = []
    with recording(runs, text):
        todo = pending(runs, cases)
        positions = {case.id: number for number, case in enumerate(cases, 1)}
        observer.planned(todo, len(cases) - len(todo))
        for name, block in groupby(todo, key=lambda case: case.system):
            queue = deque(block)
            while queue:
                with _bench(plan, name, observer) as bench:
                    for case, run, failure in _block(queue, positions, runs, bench, observer):
                        observer.finished(case, run, failure)
                        if failure is None:
                            done += 1
                        else:
                            failed.append((run, failure))
    return Outcome(done, tuple(failed))


@contextmanager
def _bench(plan: Plan, name: str, observer: Observer) -> Iterator[Bench]:
    system = SYSTEMS[name]
    host = LocalHost()
    observer.doing(f"getting the load generator for {system.title}")
    environment = environments.ensure(system.simulator)
    observer.doing(f"starting {system.title}")
    with (
        host.scratch(name) as folder,
        system.start(plan.systems[name].settings, host, folder) as deployment,
    ):
        facts = {
            "hosts": [host.facts()],
            "system": {"title": system.title, **deployment.facts()},
            "generator": dict(environment.versions),
            "mqperf": version(),
            "order": {"kind": plan.order, "seed": plan.seed},
        }
        yield Bench(host, deployment, environment, facts)


def _block(
    queue: deque[Case],
    positions: dict[str, int],
    runs: Path,
    bench: Bench,
    observer: Observer,
) -> Iterator[tuple[Case, Run, str | None]]:
    """Run the cases of the queue; ends early, with the rest left in it, when the system died.

    While a case drains, the processes of the next one start.
    """

    def begin() -> Trial:
        case = queue.popleft()

        def tell(what: str) -> None:
            observer.doing(what, case)

        return Trial.begin(case, positions[case.id], runs, bench, tell)

    following: Trial | None = None
    while queue or following:
        trial, following, refusal = following or begin(), None, None
        with closing(trial):
            try:
                trial.measure()
                following, refusal = _tried(begin) if queue else (None, None)
                run, failure = trial.conclude(), None
            except MqperfError as error:
                failure = str(error)
                run = trial.fail(failure)
            except BaseException:
                trial.fail("interrupted")
                if following:
                    following.discard()
                raise
        yield trial.case, run, failure
        if refusal:
            raise refusal
        if not _sound(bench, failure, observer):
            if following:
                following.discard()
                queue.appendleft(following.case)
            return


def _tried(begin: Callable[[], Trial]) -> tuple[Trial | None, RecordError | None]:
    """The next trial, or why there can be none: the present one must be brought home first."""
    try:
        return begin(), None
    except RecordError as error:
        return None, error


def _sound(bench: Bench, failure: str | None, observer: Observer) -> bool:
    """Whether the next case can be measured on it; if not, why is told, unless the case did."""
    try:
        bench.check()
    except SystemFault as fault:
        if failure is None or bench.faults:
            observer.doing(f"this system is ended: {fault}")
        return False
    return True
