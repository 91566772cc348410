"""Systems under test, one module each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.registry import Registry
from mqperf.hosts import Hosts
from mqperf.lab.probes import chosen
from mqperf.lab.systems import (
    activemq,
    artemis,
    artemis_ha,
    qpid_dispatch,
    rabbitmq,
    zeromq,
)
from mqperf.lab.systems.certificates import OPENSSL
from mqperf.lab.systems.system import Deployment, Node, System
from mqperf.lab.systems.tool import Tool
from mqperf.plan import Case, Plan, deployments
from mqperf.plan.load import GENERATORS

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

_KNOWN = (
    rabbitmq.SYSTEM,
    zeromq.SYSTEM,
    activemq.SYSTEM,
    artemis.SYSTEM,
    artemis_ha.SYSTEM,
    qpid_dispatch.SYSTEM,
)

SYSTEMS = Registry("systems", _KNOWN)

FIRST = rabbitmq.SYSTEM.name
"""The system of plans/quickstart.yaml; the others are needed by plans that name them."""


def lookup(name: str) -> System:
    """The system of that name; raises ``PlanError`` with the known ones."""
    if name not in SYSTEMS:
        raise PlanError(f"no system {name!r}; known: {', '.join(SYSTEMS)}")
    return SYSTEMS[name]


def starts(cases: Iterable[Case]) -> list[list[Case]]:
    """The cases in their order, a list for each start of a system."""
    return deployments(cases, lambda case: SYSTEMS[case.system].apart(case.topology))


def check_plan(plan: Plan) -> None:
    """Raise ``PlanError`` when the plan asks for what no system, or not this one, has."""
    from mqperf.lab.systems.in_plans import problems_of  # which knows the systems

    systems = {
        name: {"topologies": one.topologies, "queues": one.queues, "settings": one.settings}
        for name, one in plan.systems.items()
    }
    for problem in problems_of({**plan.model_dump(exclude={"systems"}), "systems": systems}):
        raise PlanError(f"plan {plan.name}: {problem.sentence()}")
    _check_asked(plan)
    for name, wanted in plan.systems.items():
        for settings in wanted.variants():
            _check_settings(plan, SYSTEMS[name], settings)


def _check_settings(plan: Plan, system: System, settings: Mapping[str, JsonValue]) -> None:
    """Raise ``PlanError`` for settings with which the plan's topologies or generators cannot be."""
    system.check(settings)
    for topology in plan.systems[system.name].topologies:
        if why := system.misfit(topology, settings):
            raise PlanError(f"plan {plan.name}: {why}")
    beside = (load.generator for one in plan.surroundings for load in one.background)
    used = [GENERATORS[name] for name in dict.fromkeys((plan.load.generator, *beside))]
    plain = [one.title for one in used if not one.encrypts]
    if plain and system.encrypts(settings):
        raise PlanError(
            f"plan {plan.name}: {plain[0]} does not speak TLS: leave out tls of"
            f" {system.title}, or take another generator"
        )


def _check_asked(plan: Plan) -> None:
    """Raise ``PlanError`` for a probe that asks nodes, if none tell, or not with these settings."""
    systems = [SYSTEMS[name] for name in plan.systems]
    asking = [probe.name for probe in chosen(plan.probes) if probe.asks_nodes]
    if asking and all(system.telling is None for system in systems):
        raise PlanError(
            f"plan {plan.name}: nodes of {', '.join(one.title for one in systems)} tell"
            f" nothing of their inside: leave out the probe {asking[0]}"
        )
    for system in systems if asking else ():
        for settings in plan.systems[system.name].variants():
            system.check(system.watched(settings))


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
