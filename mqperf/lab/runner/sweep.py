"""A sweep: cases of a plan, one after the other, system by system."""

import time
from collections import Counter, abc, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import HostError, MqperfError, RecordError, SystemFault
from mqperf.base.version import version
from mqperf.hosts import HostFolder, HostKind, Hosts
from mqperf.lab.load import LAUNCHERS, Tool
from mqperf.lab.probes import chosen
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.deciding import Deciding
from mqperf.lab.runner.interrupts import interrupts_first
from mqperf.lab.runner.observer import Observer
from mqperf.lab.runner.phases import Begun, begin
from mqperf.lab.runner.pipeline import Pipeline
from mqperf.lab.runner.searching import Searching
from mqperf.lab.runner.trial import Audience
from mqperf.lab.systems import SYSTEMS, System, starts
from mqperf.lab.systems.possible import Possible
from mqperf.lab.systems.settings import HOST_SETTINGS, SettingsFault
from mqperf.plan import Case
from mqperf.plan.file import as_measured
from mqperf.plan.load import GENERATORS
from mqperf.record import Attempt, Run, pending

Ended = tuple[Case, Run, str | None]
"""A case, its run, and the reason if it failed."""

Positions = dict[str, int]
"""Position in the order of the sweep, from 1, by id of a case; a search adds its cases."""

MAX_FAILURES = 2
"""Consecutive failed starts after which all remaining cases fail, as after each further one."""

LOST_HOST_WAIT_S, RETRY_S = 300.0, 10.0
"""How long to wait for the return of a lost machine, and the interval between attempts."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A plan that is being run into the folder ``runs``; ``order`` has all its cases.

    ``hosts`` is the kind of hosts that everything runs on.  With ``searching``, ``order`` has the
    first case of each search, and with ``deciding`` the first turn; the rest depends on results.
    """

    here: Possible
    runs: Path
    order: Sequence[Case]
    positions: Positions
    observer: Observer
    hosts: HostKind
    searching: Searching | None = None
    deciding: Deciding | None = None
    failed_starts: Counter[str] = field(default_factory=Counter)
    """Consecutive failed starts by system, over all turns."""

    started: set[str] = field(default_factory=set)
    """The kind of hosts, once all hosts were reached."""

    def as_measured(self, text: str) -> str:
        """Return the text of the plan, completed by the values that depend on the hosts."""
        return as_measured(text, self.here.kinds, self.here.plan.load.hosts[0])

    def pending(self) -> list[Case]:
        """Return the cases without a whole run, in their order; of a search, its next case."""
        return pending(self.runs, self.order)

    def position(self, case: Case) -> int:
        """Return the position of a case in the order of the sweep."""
        return self.positions.setdefault(case.id, max(self.positions.values(), default=0) + 1)

    def following(self, case: Case, run: Run, failure: str | None) -> list[Case]:
        """Return the cases that follow from this result: with a search, its next case."""
        if self.searching is None or failure is not None:
            return []
        next_case = self.searching.following(case, run)
        return [] if next_case is None else [next_case]


def swept(sweep: Sweep, todo: Sequence[Case]) -> abc.Generator[Ended]:
    """Run the cases system by system, after recording those that cannot be measured here."""
    for case in todo:
        if reason := sweep.here.refusal(case):
            yield _record_refused(sweep, case, reason)
    measurable = [case for case in todo if not sweep.here.refusal(case)]
    for block in starts(measurable):
        yield from _of_system(sweep, deque(block))


def _of_system(sweep: Sweep, queue: deque[Case]) -> Iterator[Ended]:
    """Run the cases of one deployment of a system, which is restarted when it has died.

    A failed start makes one case fail; ``MAX_FAILURES`` in a row make all remaining cases
    fail, as does a system that refuses its settings.
    """
    failed_starts, name = sweep.failed_starts, queue[0].system
    while queue:
        ended = False
        try:
            with interrupts_first(), _bench(sweep, queue[0]) as bench:
                failed_starts[name] = 0
                with closing(_run_block(sweep, queue, bench)) as block:
                    for each in block:
                        ended = True
                        yield each
        except RecordError:
            raise
        except MqperfError as error:
            if ended:
                sweep.observer.doing(f"cleaning up after {SYSTEMS[name].title}: {error}")
                continue
            problems = error.problems if isinstance(error, SettingsFault) else ()
            place, path = sweep.here.plan.place, ("systems", name, "settings")
            reasons = [f"{place((*path, *each.where))}: {each.text}" for each in problems]
            failed_starts[name] += not reasons
            for _ in range(1 if not reasons and failed_starts[name] < MAX_FAILURES else len(queue)):
                yield _record_refused(sweep, queue.popleft(), "; ".join(reasons) or str(error))


def _record_refused(sweep: Sweep, case: Case, reason: str) -> Ended:
    parameters = GENERATORS[case.generator].resolved(case)
    facts = {"position": sweep.position(case), "parameters": parameters, "mqperf": version()}
    attempt = Attempt(sweep.runs, case, facts)
    return case, attempt.fail(reason), reason


@contextmanager
def _bench(sweep: Sweep, case: Case) -> Iterator[Bench]:
    """Start the system as the case requires it, ready for trials."""
    system, plan, observer = SYSTEMS[case.system], sweep.here.plan, sweep.observer
    with ChainedExitStack() as held:
        hosts = held.enter_context(_reached(sweep))
        observer.doing(f"getting the load generator for {system.title}")
        pool = held.enter_context(ThreadPoolExecutor(1))
        tools = pool.submit(_tools, plan.generators, system, hosts)  # while the system starts
        probes, settings = chosen(plan.probes), plan.settings_of(case)
        for probe in probes:
            hosts = held.enter_context(probe.prepared(hosts))
        for kind in HOST_SETTINGS.values():
            hosts = held.enter_context(kind.applied(kind.model.model_validate(settings), hosts))
        if any(probe.asks_nodes for probe in probes):
            settings = system.watched(settings)
        for step in system.getting(settings, hosts.broker):
            observer.doing(step)
        observer.doing(f"starting {system.title}")
        host_folders = [
            HostFolder(host, held.enter_context(host.scratch(system.name))) for host in hosts.broker
        ]
        deployment = held.enter_context(system.started(settings, case.topology, host_folders))
        facts = {
            "hosts": [{**host.facts(), "roles": [*hosts.roles(host)]} for host in hosts.every],
            "system": {"title": system.title, **deployment.facts()},
            "mqperf": version(),
            "order": {"kind": plan.order, "seed": plan.seed},
        }
        yield Bench(hosts, deployment, tools.result(), facts, probes, files=plan.files)


@contextmanager
def _reached(sweep: Sweep) -> Iterator[Hosts]:
    """Connect to the hosts; those that were lost meanwhile have some minutes to return."""
    with ChainedExitStack() as held:
        deadline = time.monotonic() + (LOST_HOST_WAIT_S if sweep.started else 0.0)
        while True:
            try:
                hosts = held.enter_context(sweep.hosts.reached())
                break
            except HostError as error:
                if time.monotonic() + RETRY_S > deadline:
                    raise
                sweep.observer.doing(f"{error}; trying again for {LOST_HOST_WAIT_S / 60:g} minutes")
                time.sleep(RETRY_S)
        sweep.started.add(sweep.hosts.name)
        yield hosts


def _tools(generators: Sequence[str], system: System, hosts: Hosts) -> dict[str, dict[str, Tool]]:
    """Return every load generator on all hosts of clients and servers, by the hosts' names."""
    by_name = {host.name: host for host in (*hosts.client, *hosts.server)}
    drivers = system.every_driver
    return {
        name: {at: LAUNCHERS[name].tool(drivers[name], host) for at, host in by_name.items()}
        for name in generators
    }


def _run_block(sweep: Sweep, queue: deque[Case], bench: Bench) -> abc.Generator[Ended]:
    """Run the cases of the queue, and those that follow from their results.

    Ends early, with cases left in the queue, when the system must be restarted.
    """

    def start(case: Case) -> Begun:
        observer = sweep.observer
        audience = Audience(partial(observer.doing, case=case), partial(observer.watching, case))
        return begin(case, sweep.position(case), sweep.runs, bench, audience)

    with closing(Pipeline(queue, start)) as pipeline:
        while begun := pipeline.take():
            case, run, failure = _measure(begun, pipeline)
            yield case, run, failure
            queue.extend(sweep.following(case, run, failure))
            if begun.trial.timetable.renews:
                if queue:
                    sweep.observer.doing(
                        "restarting the system: the run ended or disconnected some of its nodes"
                    )
                return
            if not _sound(bench, failure, sweep.observer):
                return


def _measure(begun: Begun, pipeline: Pipeline) -> Ended:
    """Measure and conclude a case.

    While it drains, the next case gets ready; while it is concluded, the next case warms up.
    """
    with closing(begun.trial) as trial:
        try:
            with interrupts_first():
                measured = begun.agree().measure()
                # A frozen node would let the next case wait for a minute.
                if not trial.timetable.renews and not trial.freezes.look():
                    pipeline.prepare(trial.case)
                measured.drain()
                pipeline.agree(trial.case)
                return trial.case, measured.conclude(), None
        except MqperfError as error:
            return trial.case, trial.fail(str(error)), str(error)
        except BaseException:
            trial.interrupt()
            raise


def _sound(bench: Bench, failure: str | None, observer: Observer) -> bool:
    """Return whether the next case can be measured on this bench.

    If not, the observer is told the reason, unless the case failed for it.
    """
    try:
        bench.check()
    except SystemFault as fault:
        if failure is None or bench.faults:
            observer.doing(f"stopping this system: {fault}")
        return False
    return True
