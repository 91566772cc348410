"""What of a plan can be had: as far as its systems know, and on some hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from mqperf.base.errors import PlanError, SystemFault
from mqperf.hosts import Host, Hosts
from mqperf.lab.probes import PROBES
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.system import System
from mqperf.plan import Case, Plan, redacted
from mqperf.plan.driver import KINDS, sets_of
from mqperf.plan.load import GENERATORS


def check_plan(plan: Plan) -> None:
    """Raise ``PlanError`` when the plan asks for what no system, or not this one, has.

    Raises ``SystemFault`` for values of settings that do not go together.
    """
    for problem in problems_of(_document(plan), plan.files):
        raise PlanError(f"plan {plan.name}: {problem.sentence()}")
    for name in plan.systems:
        _check_variants(plan, SYSTEMS[name])
    _check_insides(plan)


def _document(plan: Plan) -> dict[str, object]:
    """The plan as its file says it, secrets of settings included."""
    systems = {
        name: {
            "topologies": list(wanted.topologies),
            "queues": list(wanted.queues),
            "settings": dict(wanted.settings),
        }
        for name, wanted in plan.systems.items()
    }
    return {**plan.model_dump(exclude={"systems"}), "systems": systems}


def _check_variants(plan: Plan, system: System) -> None:
    """Raise for settings that, with one another, topologies or generators, cannot be."""
    generators = (GENERATORS[name] for name in plan.generators)
    plain = [generator.title for generator in generators if not generator.encrypts]
    wanted = plan.systems[system.name]
    for settings in wanted.variants():
        system.check(settings)
        for topology in wanted.topologies:
            if why := system.incompatible_settings(topology, settings):
                raise PlanError(f"plan {plan.name}: {why}")
        if plain and system.encrypts(settings):
            raise PlanError(
                f"plan {plan.name}: {plain[0]} does not speak TLS: leave out tls of"
                f" {system.title}, or take another generator"
            )


def _check_insides(plan: Plan) -> None:
    """Raise when a probe asks nodes, and none of them, or not with these settings, tell."""
    systems = {name: SYSTEMS[name] for name in plan.systems}
    asking = [name for name in plan.probes if PROBES[name].asks_nodes]
    if asking and all(system.telling is None for system in systems.values()):
        raise PlanError(
            f"plan {plan.name}: nodes of {', '.join(system.title for system in systems.values())}"
            f" tell nothing of their inside: leave out the probe {asking[0]}"
        )
    for name, system in systems.items() if asking else ():
        for settings in plan.systems[name].variants():
            system.check(system.watched(settings))


@dataclass(frozen=True, slots=True)
class Refused:
    """What cannot be measured on some hosts: a kind of queue of a system, with settings of it."""

    system: str
    queues: str
    settings: Mapping[str, JsonValue]
    reason: str


@dataclass(frozen=True, slots=True)
class Possible:
    """A plan as it can be measured on some hosts.

    ``plan`` names for each kind of queue the one that it gets there; ``kinds`` are both, by system.
    """

    plan: Plan
    kinds: Mapping[str, Mapping[str, str]]
    refused: Sequence[Refused]

    def refusal(self, case: Case) -> str | None:
        """Why the case cannot be measured there, or None when it can be."""
        declared = (kind for name, kind in KINDS.items() if case.parameters.get(name) is True)
        kinds = {case.queues, *declared}
        for each in self.refused:
            alike = (each.system, each.settings) == (case.system, case.settings)
            if alike and each.queues in kinds:
                return each.reason
        return None


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
    return Possible(plan.on(clients), {}, ())


def possible(plan: Plan, hosts: Hosts) -> Possible:
    """Look at what every system of the plan needs, before any of them is started.

    Raises ``PlanError`` for what no machine has, and when two kinds of queue are one and the same
    there.
    """
    check_plan(plan)
    kinds: dict[str, dict[str, str]] = {}
    refused: list[Refused] = []
    sets = [options for _, options in sets_of(plan.load.driver)]
    declared = {kind for name, kind in KINDS.items() if any(options.get(name) for options in sets)}
    for name, wanted in plan.systems.items():
        kinds[name] = {}
        for queues in dict.fromkeys((*wanted.queues, *sorted(declared))):
            kind, refusals = _kind(plan, name, queues, hosts.broker[0])
            kinds[name] |= {} if kind is None else {queues: kind}
            refused += refusals
        _check_different(plan, name, kinds[name])
    plan = plan.with_queues(kinds).on(len(hosts.client))
    return Possible(plan, kinds, refused)


def _kind(plan: Plan, name: str, queues: str, host: Host) -> tuple[str | None, list[Refused]]:
    """What the plan gets for a kind of queue, and with which settings of the system it cannot."""
    kinds: dict[str, None] = {}
    reasons: list[tuple[Mapping[str, JsonValue], str]] = []
    for settings in plan.systems[name].variants():
        try:
            kinds[SYSTEMS[name].queues_on(host, queues, settings)] = None
        except SystemFault as fault:
            reasons.append((redacted(settings), str(fault)))
    if len(kinds) > 1:
        raise PlanError(
            f"plan {plan.name}: {queues} queues of {SYSTEMS[name].title} are"
            f" {' or '.join(kinds)} ones, by its settings: plan queues: [{', '.join(kinds)}]"
            " instead"
        )
    kind = next(iter(kinds), None)
    return kind, [Refused(name, kind or queues, *reason) for reason in reasons]


def _check_different(plan: Plan, system: str, kinds: Mapping[str, str]) -> None:
    for asked, kind in kinds.items():
        if asked != kind and kind in kinds:
            raise PlanError(
                f"plan {plan.name}: {asked} queues of {SYSTEMS[system].title} are {kind} queues"
                f" here, and the plan asks for those as well: leave one of them out"
            )
