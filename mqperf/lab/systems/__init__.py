"""Systems under test, one module each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from pydantic import JsonValue

from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.problems import unknown
from mqperf.base.registry import Registry
from mqperf.hosts import Hosts
from mqperf.lab.actions import in_plans as of_actions
from mqperf.lab.probes import chosen, named
from mqperf.lab.systems import rabbitmq, zeromq
from mqperf.lab.systems.certificates import OPENSSL
from mqperf.lab.systems.system import Deployment, Node, System
from mqperf.lab.systems.tool import Tool
from mqperf.plan import Case, Plan, deployments
from mqperf.plan.load import GENERATORS, Generator
from mqperf.plan.load.in_plans import misfits, problems_beside, problems_of, problems_of_asking

__all__ = [
    "FIRST",
    "OPENSSL",
    "SYSTEMS",
    "Deployment",
    "Node",
    "Possible",
    "System",
    "Tool",
    "check_places",
    "check_plan",
    "lookup",
    "planned",
    "possible",
    "starts",
]

_KNOWN = (rabbitmq.SYSTEM, zeromq.SYSTEM)

SYSTEMS = Registry("systems", _KNOWN)

FIRST = rabbitmq.SYSTEM.name
"""The system of plans/quickstart.yaml; the others are needed by plans that name them."""


def lookup(name: str) -> System:
    """The system of that name.

    Raises ``PlanError`` with the package that brings it, the nearest known one, or all of them.
    """
    if name not in SYSTEMS:
        raise PlanError(unknown("system", name, [*SYSTEMS]))
    return SYSTEMS[name]


def starts(cases: Iterable[Case]) -> list[list[Case]]:
    """The cases in their order, a list for each start of a system."""
    return deployments(cases, lambda case: SYSTEMS[case.system].apart(case.topology))


def check_plan(plan: Plan) -> None:
    """Raise ``PlanError`` when the plan asks for what no system, or not this one, has."""
    generators = _generators(plan)
    _check_probes(plan)
    _check_actions(plan)
    for name, wanted in plan.systems.items():
        system = lookup(name)
        for generator in generators:
            if generator.name not in system.every_driver:
                raise PlanError(
                    f"plan {plan.name}: {generator.title} cannot talk to {system.title};"
                    f" these can: {', '.join(system.every_driver)}"
                )
        for kind, names, known in (
            ("topology", wanted.topologies, system.topologies),
            ("kind of queue", wanted.queues, system.queues),
        ):
            for missing in (
                entry for entry in names if entry not in known and not system.offers(entry)
            ):
                raise PlanError(
                    f"plan {plan.name}: {system.title} has no {kind} {missing!r};"
                    f" it has: {', '.join(known)}"
                )
        _check_queues(plan, system)
        for settings in wanted.variants():
            _check_settings(plan, system, settings)


def _check_queues(plan: Plan, system: System) -> None:
    """Raise ``PlanError`` for kinds of queue that a topology has not, or no load can be put on."""
    wanted = plan.systems[system.name]
    for pair in product(wanted.topologies, wanted.queues):
        if why := system.unfit.get(pair):
            raise PlanError(f"plan {plan.name}: {system.title}: {why}")
    for load, kind in product(_loads(plan), wanted.queues):
        if why := misfits(load, kind):
            raise PlanError(f"plan {plan.name}: {why}")


def _check_settings(plan: Plan, system: System, settings: Mapping[str, JsonValue]) -> None:
    """Raise ``PlanError`` for settings with which the plan's topologies or generators cannot be."""
    system.check(settings)
    for topology in plan.systems[system.name].topologies:
        if why := system.misfit(topology, settings):
            raise PlanError(f"plan {plan.name}: {why}")
    plain = [one.title for one in _generators(plan) if not one.encrypts]
    if plain and system.encrypts(settings):
        raise PlanError(
            f"plan {plan.name}: {plain[0]} does not speak TLS: leave out tls of"
            f" {system.title}, or take another generator"
        )


def _loads(plan: Plan) -> list[dict[str, Any]]:
    """The measured load and those beside it, as documents hold them."""
    beside = [load.model_dump() for one in plan.surroundings for load in one.background]
    return [{"generator": plan.load.generator, **plan.load.parameters}, *beside]


def _check_actions(plan: Plan) -> None:
    said = [action.model_dump() for _, action in plan.every_action()]
    for problem in of_actions.problems_of(said):
        raise PlanError(f"plan {plan.name}: {problem.text}")


def _check_probes(plan: Plan) -> None:
    known = named()
    for name in plan.probes:
        if name not in known:
            raise PlanError(f"plan {plan.name}: no probe {name!r}; known: {', '.join(known)}")
    systems = {name: lookup(name) for name in plan.systems}
    asking = [probe.name for probe in chosen(plan.probes) if probe.asks_nodes]
    if asking and all(system.telling is None for system in systems.values()):
        raise PlanError(
            f"plan {plan.name}: nodes of {', '.join(one.title for one in systems.values())} tell"
            f" nothing of their inside: leave out the probe {asking[0]}"
        )
    for name, system in systems.items() if asking else ():
        for settings in plan.systems[name].variants():
            system.check(system.watched(settings))


def _generators(plan: Plan) -> list[Generator]:
    """The load generators of a plan, if there are such that make its test cases and loads."""
    load, *beside = _loads(plan)
    asked = {"searches": plan.search is not None, "ends_early": plan.fail_when is not None}
    for problem in (
        *problems_of(load, plan.test_cases),
        *problems_beside(beside),
        *problems_of_asking(load, **asked),
    ):
        raise PlanError(f"plan {plan.name}: {problem.sentence()}")
    names = dict.fromkeys(one["generator"] for one in (load, *beside))
    return [GENERATORS[name] for name in names]


@dataclass(frozen=True, slots=True)
class Possible:
    """A plan as it can be measured on some hosts.

    ``plan`` names for each kind of queue the one that it gets there; ``kinds`` are both, by system;
    ``refused`` gives by system and kind of queue why there is none.
    """

    plan: Plan
    kinds: Mapping[str, Mapping[str, str]]
    refused: Mapping[tuple[str, str], str]

    def refusal(self, case: Case) -> str | None:
        """Why the case cannot be measured there, or None when it can be."""
        return self.refused.get((case.system, case.queues))


def check_places(plan: Plan, hosts: Hosts) -> None:
    """Raise ``PlanError`` for an action on a host that is not among these."""
    names = [host.name for host in hosts.every]
    for _, action in plan.every_action():
        if action.host is not None and action.host not in names:
            raise PlanError(
                f"plan {plan.name}: {action.do}: there is no host {action.host!r}; there are:"
                f" {', '.join(names)}"
            )


def planned(plan: Plan, clients: int) -> Possible:
    """The plan on so many client hosts, as far as it can be known without a look at any host.

    Raises ``PlanError`` for what no machine has.
    """
    check_plan(plan)
    return Possible(plan.on(clients), {}, {})


def possible(plan: Plan, hosts: Hosts) -> Possible:
    """Look at what every system of the plan needs, before any of them is started.

    Raises ``PlanError`` for what no machine has, and when two kinds of queue are one and the same
    there.
    """
    check_plan(plan)
    kinds: dict[str, dict[str, str]] = {}
    refused: dict[tuple[str, str], str] = {}
    for name, wanted in plan.systems.items():
        kinds[name] = {}
        for queues in wanted.queues:
            try:
                kinds[name][queues] = SYSTEMS[name].queues_on(
                    hosts.broker[0], queues, wanted.variants()[0]
                )
            except SystemFault as fault:
                refused[name, queues] = str(fault)
        _check_different(plan, name, kinds[name])
    plan = plan.with_queues(kinds).on(len(hosts.client))
    return Possible(plan, kinds, refused)


def _check_different(plan: Plan, system: str, kinds: Mapping[str, str]) -> None:
    for asked, kind in kinds.items():
        if asked != kind and kind in kinds:
            raise PlanError(
                f"plan {plan.name}: {asked} queues of {SYSTEMS[system].title} are {kind} queues"
                f" here, and the plan asks for those as well: leave one of them out"
            )
