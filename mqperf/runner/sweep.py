"""A sweep: every case of a plan that has no whole run yet, one after the other."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from mqperf.errors import MqperfError, RecordError, SystemFault
from mqperf.hosts import LocalHost
from mqperf.load import GENERATORS
from mqperf.plan import Case, Plan
from mqperf.plan_file import with_queues
from mqperf.record import Attempt, Run, pending, recording
from mqperf.runner.observer import Observer
from mqperf.runner.trial import Bench, Trial
from mqperf.systems import SYSTEMS, Possible, possible
from mqperf.version import version


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sweep."""

    done: int
    failed: tuple[tuple[Run, str], ...]


Ended = tuple[Case, Run, str | None]
"""A case, its run, and why it failed if it did."""

Positions = Mapping[str, int]
"""Id of a case -> its place in the plan, from 1."""

STARTS = 2
"""Failed starts in a row after which a system is given up."""


def sweep(plan: Plan, text: str, runs: Path, observer: Observer) -> Outcome:
    """Run what is pending of ``plan`` into the folder ``runs``; ``text`` is the plan as given.

    A run that fails, and a case that cannot be measured here, is recorded with its reason, and the
    sweep goes on.  With nothing pending the folder is not touched.  Raises ``PlanError`` when the
    plan asks for what does not exist, ``SystemFault`` when nothing of it can be measured here,
    ``RecordError`` when the folder is in use or cannot be written.  Must be called from a thread
    that lives until it returns.
    """
    here = possible(plan)
    cases = here.plan.cases()
    todo = pending(runs, cases)
    if todo and all(map(here.refusal, todo)):
        raise SystemFault("; ".join(dict.fromkeys(here.refused.values())))
    if not todo:
        observer.planned([], len(cases))
        return Outcome(0, ())
    ended: list[Ended] = []
    with recording(runs, with_queues(text, here.kinds)):
        todo = pending(runs, cases)
        positions = {case.id: number for number, case in enumerate(cases, 1)}
        observer.planned(todo, len(cases) - len(todo))
        with closing(_swept(here, todo, positions, runs, observer)) as sweeping:
            for each in sweeping:
                observer.finished(*each)
                ended.append(each)
    failed = tuple((run, failure) for _, run, failure in ended if failure is not None)
    return Outcome(len(ended) - len(failed), failed)


def _swept(
    here: Possible, todo: Sequence[Case], positions: Positions, runs: Path, observer: Observer
) -> Generator[Ended]:
    """End every case: first those that cannot be measured here, then system by system."""
    for case in todo:
        if reason := here.refusal(case):
            yield _refused(case, positions, runs, reason)
    rest = [case for case in todo if not here.refusal(case)]
    for name, block in groupby(rest, key=lambda case: case.system):
        yield from _of_system(here.plan, name, deque(block), positions, runs, observer)


def _of_system(  # noqa: PLR0913, PLR0917 (the sweep's arguments, handed on)
    plan: Plan,
    name: str,
    queue: deque[Case],
    positions: Positions,
    runs: Path,
    observer: Observer,
) -> Iterator[Ended]:
    """End the cases of one system, which is started again when it died.

    A start that fails costs one case, and as many in a row as ``STARTS`` cost all that are left.
    """
    failed_starts = 0
    while queue:
        left = len(queue)
        try:
            with _bench(plan, name, observer) as bench:
                failed_starts = 0
                yield from _block(queue, positions, runs, bench, observer)
        except RecordError:
            raise
        except MqperfError as error:
            if len(queue) < left:
                observer.doing(f"cleaning up after {SYSTEMS[name].title}: {error}")
                continue
            failed_starts += 1
            for _ in range(1 if failed_starts < STARTS else len(queue)):
                yield _refused(queue.popleft(), positions, runs, str(error))


def _refused(case: Case, positions: Positions, runs: Path, reason: str) -> Ended:
    attempt = Attempt(runs, case, {"position": positions[case.id], "mqperf": version()})
    return case, attempt.fail(reason), reason


@contextmanager
def _bench(plan: Plan, name: str, observer: Observer) -> Iterator[Bench]:
    system = SYSTEMS[name]
    host = LocalHost()
    observer.doing(f"getting the load generator for {system.title}")
    generator = GENERATORS[plan.load.generator]
    tool = generator.tool(system.drivers[generator.name])
    observer.doing(f"starting {system.title}")
    with (
        host.scratch(name) as folder,
        system.start(plan.systems[name].settings, host, folder) as deployment,
    ):
        facts = {
            "hosts": [host.facts()],
            "system": {"title": system.title, **deployment.facts()},
            "generator": dict(tool.versions),
            "mqperf": version(),
            "order": {"kind": plan.order, "seed": plan.seed},
        }
        yield Bench(host, deployment, generator, tool, facts)


def _block(
    queue: deque[Case],
    positions: Positions,
    runs: Path,
    bench: Bench,
    observer: Observer,
) -> Iterator[Ended]:
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
                trial.interrupt()
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
