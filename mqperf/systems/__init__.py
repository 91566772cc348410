"""Systems under test, one module each."""

from collections.abc import Mapping
from dataclasses import dataclass

from mqperf.actions import ACTIONS
from mqperf.errors import PlanError, SystemFault
from mqperf.hosts import Hosts
from mqperf.links import LINKS
from mqperf.load import GENERATORS, Generator
from mqperf.load.in_plans import problems_beside, problems_of
from mqperf.plan import Case, Plan
from mqperf.probes import named
from mqperf.registry import Registry
from mqperf.systems import activemq, activemq_leveldb, artemis, artemis_ha, rabbitmq, zeromq
from mqperf.systems.system import Deployment, Node, System
from mqperf.systems.tool import Tool

__all__ = [
    "FIRST",
    "SYSTEMS",
    "Deployment",
    "Node",
    "Possible",
    "System",
    "Tool",
    "check_plan",
    "lookup",
    "possible",
]

_KNOWN = (
    rabbitmq.SYSTEM,
    zeromq.SYSTEM,
    activemq.SYSTEM,
    artemis.SYSTEM,
    artemis_ha.SYSTEM,
    activemq_leveldb.SYSTEM,
)

SYSTEMS = Registry("systems", _KNOWN)

FIRST = rabbitmq.SYSTEM.name
"""The system of plans/quickstart.yaml; the others are needed by plans that name them."""


def lookup(name: str) -> System:
    """The system of that name; raises ``PlanError`` with the known ones."""
    if name not in SYSTEMS:
        raise PlanError(f"no system {name!r}; known: {', '.join(SYSTEMS)}")
    return SYSTEMS[name]


def check_plan(plan: Plan) -> None:
    """Raise ``PlanError`` when the plan asks for what no system, or not this one, has."""
    generators = _generators(plan)
    _check_probes(plan)
    if plan.link is not None and not LINKS:
        raise PlanError(
            f"plan {plan.name}: link: no backend that makes links is installed; leave link: out,"
            " or install a package that brings one"
        )
    for action in plan.actions:
        if action.do not in ACTIONS:
            raise PlanError(
                f"plan {plan.name}: no action {action.do!r}; known: {', '.join(ACTIONS)}"
            )
    for name, wanted in plan.systems.items():
        system = lookup(name)
        for generator in generators:
            if generator.name not in system.drivers:
                raise PlanError(
                    f"plan {plan.name}: {generator.title} cannot talk to {system.title};"
                    f" these can: {', '.join(system.drivers)}"
                )
        for kind, names, known in (
            ("topology", wanted.topologies, system.topologies),
            ("kind of queue", wanted.queues, system.queues),
        ):
            for missing in (entry for entry in names if entry not in known):
                raise PlanError(
                    f"plan {plan.name}: {system.title} has no {kind} {missing!r};"
                    f" it has: {', '.join(known)}"
                )
        for settings in wanted.variants():
            system.check(settings)


def _check_probes(plan: Plan) -> None:
    known = named()
    for name in plan.probes:
        if name not in known:
            raise PlanError(f"plan {plan.name}: no probe {name!r}; known: {', '.join(known)}")


def _generators(plan: Plan) -> list[Generator]:
    """The load generators of a plan, if there are such that make its test cases and loads."""
    load = {"generator": plan.load.generator, **plan.load.parameters}
    beside = [one.model_dump() for one in plan.background]
    for problem in (*problems_of(load, plan.test_cases), *problems_beside(beside)):
        raise PlanError(f"plan {plan.name}: {problem.sentence()}")
    names = (plan.load.generator, *(one.generator for one in plan.background))
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
