"""A sweep: cases of a plan, one after the other, system by system."""

import time
from collections import Counter, abc, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mqperf.base.errors import HostError, MqperfError, RecordError, SystemFault
from mqperf.base.version import version
from mqperf.hosts import HostFolder, HostKind, Hosts
from mqperf.lab.load import LAUNCHERS, Launcher, Tool
from mqperf.lab.probes import chosen
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.deciding import Deciding
from mqperf.lab.runner.interrupts import interrupts_first
from mqperf.lab.runner.observer import Observer
from mqperf.lab.runner.phases import Begun, begin
from mqperf.lab.runner.pipeline import Pipeline
from mqperf.lab.runner.searching import Searching
from mqperf.lab.runner.trial import Audience
from mqperf.lab.systems import SYSTEMS, starts
from mqperf.lab.systems.possible import Possible
from mqperf.lab.systems.settings import HOST_SETTINGS, SettingsFault
from mqperf.plan import Case
from mqperf.plan.file import as_measured
from mqperf.plan.load import GENERATORS
from mqperf.record import Attempt, Run, pending

Ended = tuple[Case, Run, str | None]
"""A case, its run, and why it failed if it did."""

Positions = dict[str, int]
"""Id of a case -> its place in the order of the sweep, from 1; a search adds its cases."""

STARTS = 2
"""Failed starts in a row that cost all cases which are left, as does each further one."""

BACK_S, AGAIN_S = 300.0, 10.0
"""A machine that was lost is started again by then; how often it is looked for."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A plan that is being run into the folder ``runs``; ``order`` has all its cases.

    ``hosts`` is the kind of hosts that everything runs on.  With ``searching``, ``order`` has what
    each search runs first, and with ``deciding`` the first turn; the rest follows from results.
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
    """By system: how many in a row, over all turns."""

    started: set[str] = field(default_factory=set)
    """The hosts, when they were all reached once."""

    def as_measured(self, text: str) -> str:
        """The text of the plan with what depends on the hosts."""
        return as_measured(text, self.here.kinds, self.here.plan.load.hosts[0])

    def pending(self) -> list[Case]:
        """The cases that have no whole run yet, in their order; of a search, its next one."""
        return pending(self.runs, self.order)

    def position(self, case: Case) -> int:
        """Its place in the order of the sweep."""
        return self.positions.setdefault(case.id, max(self.positions.values(), default=0) + 1)

    def following(self, case: Case, run: Run, failure: str | None) -> list[Case]:
        """What is to be run because of this result: with a search, its next case."""
        if self.searching is None or failure is not None:
            return []
        after = self.searching.following(case, run)
        return [] if after is None else [after]


def swept(sweep: Sweep, todo: Sequence[Case]) -> abc.Generator[Ended]:
    """End each of these cases: first those that cannot be measured here, then system by system."""
    for case in todo:
        if reason := sweep.here.refusal(case):
            yield _refused(sweep, case, reason)
    measurable = [case for case in todo if not sweep.here.refusal(case)]
    for block in starts(measurable):
        yield from _of_system(sweep, deque(block))


def _of_system(sweep: Sweep, queue: deque[Case]) -> Iterator[Ended]:
    """End the cases of one deployment of a system, which is started again when it died.

    A start that fails costs one case, and as many in a row as ``STARTS`` cost all that are left.
    So does a system that refuses its settings.
    """
    failed_starts, name = sweep.failed_starts, queue[0].system
    while queue:
        ended = False
        try:
            with interrupts_first(), _bench(sweep, queue[0]) as bench:
                failed_starts[name] = 0
                with closing(_block(sweep, queue, bench)) as block:
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
            place, settings = sweep.here.plan.place, ("systems", name, "settings")
            reasons = [f"{place((*settings, *each.where))}: {each.text}" for each in problems]
            failed_starts[name] += not reasons
            for _ in range(1 if not reasons and failed_starts[name] < STARTS else len(queue)):
                yield _refused(sweep, queue.popleft(), "; ".join(reasons) or str(error))


def _refused(sweep: Sweep, case: Case, reason: str) -> Ended:
    parameters = GENERATORS[case.generator].resolved(case)
    facts = {"position": sweep.position(case), "parameters": parameters, "mqperf": version()}
    attempt = Attempt(sweep.runs, case, facts)
    return case, attempt.fail(reason), reason


@contextmanager
def _bench(sweep: Sweep, case: Case) -> Iterator[Bench]:
    """The system as the case asks for it, ready for trials."""
    system, plan, observer = SYSTEMS[case.system], sweep.here.plan, sweep.observer
    with ExitStack() as held:
        hosts = held.enter_context(_reached(sweep))
        observer.doing(f"getting the load generator for {system.title}")
        drivers = system.every_driver
        tools = {name: _tools(LAUNCHERS[name], drivers[name], hosts) for name in plan.generators}
        probes, settings = chosen(plan.probes), plan.settings_of(case)
        for probe in probes:
            hosts = held.enter_context(probe.prepared(hosts))
        for kind in HOST_SETTINGS.values():
            hosts = held.enter_context(kind.applied(kind.model.model_validate(settings), hosts))
        if any(probe.asks_nodes for probe in probes):
            settings = system.watched(settings)
        for words in system.getting(settings, hosts.broker):
            observer.doing(words)
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
        yield Bench(hosts, deployment, tools, facts, probes, files=plan.files)


@contextmanager
def _reached(sweep: Sweep) -> Iterator[Hosts]:
    """The hosts; those that were lost meanwhile get some minutes to come back."""
    with ExitStack() as held:
        limit = time.monotonic() + (BACK_S if sweep.started else 0.0)
        while True:
            try:
                hosts = held.enter_context(sweep.hosts.reached())
                break
            except HostError as error:
                if time.monotonic() + AGAIN_S > limit:
                    raise
                sweep.observer.doing(f"{error}; trying again for {BACK_S / 60:g} minutes")
                time.sleep(AGAIN_S)
        sweep.started.add(sweep.hosts.name)
        yield hosts


def _tools(launcher: Launcher, driver: str, hosts: Hosts) -> dict[str, Tool]:
    """A load generator on every host of clients and servers, by the host's name."""
    places = {host.name: host for host in (*hosts.client, *hosts.server)}
    return {name: launcher.tool(driver, host) for name, host in places.items()}


def _block(sweep: Sweep, queue: deque[Case], bench: Bench) -> abc.Generator[Ended]:
    """Run the cases of the queue, and those that follow from them.

    Ends early, with the rest left in it, for another system.
    """

    def start(case: Case) -> Begun:
        observer = sweep.observer
        audience = Audience(partial(observer.doing, case=case), partial(observer.watching, case))
        return begin(case, sweep.position(case), sweep.runs, bench, audience)

    with closing(Pipeline(queue, start)) as pipeline:
        while begun := pipeline.take():
            case, run, failure = _ended(begun, pipeline)
            yield case, run, failure
            queue.extend(sweep.following(case, run, failure))
            if begun.trial.timetable.renews:
                if queue:
                    sweep.observer.doing(
                        "starting the system anew: the run has ended or parted nodes of it"
                    )
                return
            if not _sound(bench, failure, sweep.observer):
                return


def _ended(begun: Begun, pipeline: Pipeline) -> Ended:
    """Measure a case and bring it home; while it drains, the processes of the next one start.

    While it is concluded, the next one warms up.
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
    """Whether the next case can be measured on it.

    If not, the observer learns why, unless that is what the case failed of.
    """
    try:
        bench.check()
    except SystemFault as fault:
        if failure is None or bench.faults:
            observer.doing(f"this system is ended: {fault}")
        return False
    return True
