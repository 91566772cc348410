"""The cases of a plan that can be measured, in general and on given hosts."""

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
    """Raise ``PlanError`` when the plan asks for something that its systems do not have.

    Raises ``SystemFault`` for values of settings that cannot be combined.
    """
    for problem in problems_of(_document(plan), plan.files):
        raise PlanError(f"plan {plan.name}: {problem.sentence()}")
    for name in plan.systems:
        _check_variants(plan, SYSTEMS[name])
    _check_metrics(plan)


def _document(plan: Plan) -> dict[str, object]:
    """Return the plan in the form of its file, including secret settings."""
    systems = {
        name: {
            "topologies": list(spec.topologies),
            "queues": list(spec.queues),
            "settings": dict(spec.settings),
        }
        for name, spec in plan.systems.items()
    }
    return {**plan.model_dump(exclude={"systems"}), "systems": systems}


def _check_variants(plan: Plan, system: System) -> None:
    """Raise for settings that cannot be combined, or not with a topology or generator."""
    generators = (GENERATORS[name] for name in plan.generators)
    without_tls = [generator.title for generator in generators if not generator.encrypts]
    spec = plan.systems[system.name]
    for settings in spec.variants():
        system.check(settings)
        for topology in spec.topologies:
            if why := system.incompatible_settings(topology, settings):
                raise PlanError(f"plan {plan.name}: {why}")
        if without_tls and system.encrypts(settings):
            raise PlanError(
                f"plan {plan.name}: {without_tls[0]} does not speak TLS: leave out tls of"
                f" {system.title}, or take another generator"
            )


def _check_metrics(plan: Plan) -> None:
    """Raise when a probe needs metrics of nodes, and no system, or not these settings, has any."""
    systems = {name: SYSTEMS[name] for name in plan.systems}
    asking = [name for name in plan.probes if PROBES[name].asks_nodes]
    if asking and all(system.telling is None for system in systems.values()):
        raise PlanError(
            f"plan {plan.name}: nodes of {', '.join(system.title for system in systems.values())}"
            f" export no metrics: leave out the probe {asking[0]}"
        )
    for name, system in systems.items() if asking else ():
        for settings in plan.systems[name].variants():
            system.check(system.watched(settings))


@dataclass(frozen=True, slots=True)
class Refused:
    """A kind of queue of a system with certain settings that cannot be measured on the hosts."""

    system: str
    queues: str
    settings: Mapping[str, JsonValue]
    reason: str


@dataclass(frozen=True, slots=True)
class Possible:
    """A plan as it can be measured on some hosts.

    ``plan`` has the actual kinds of queue; ``kinds`` maps planned to actual kinds, by system.
    """

    plan: Plan
    kinds: Mapping[str, Mapping[str, str]]
    refused: Sequence[Refused]

    def refusal(self, case: Case) -> str | None:
        """Return why the case cannot be measured there, or None when it can be."""
        declared = (kind for name, kind in KINDS.items() if case.parameters.get(name) is True)
        kinds = {case.queues, *declared}
        for each in self.refused:
            same_system = (each.system, each.settings) == (case.system, case.settings)
            if same_system and each.queues in kinds:
                return each.reason
        return None


def check_places(plan: Plan, hosts: Hosts) -> None:
    """Raise ``PlanError`` for an action on a host that is not one of these."""
    names = [host.name for host in hosts.every]
    for _, action in plan.every_action():
        if action.host is not None and action.host not in names:
            raise PlanError(
                f"plan {plan.name}: {action.do}: there is no host {action.host!r}; there are:"
                f" {', '.join(names)}"
            )


def planned(plan: Plan, clients: int) -> Possible:
    """Return the plan for so many client hosts, without connecting to any host.

    Raises ``PlanError`` for a plan that no hosts can run.
    """
    check_plan(plan)
    return Possible(plan.on(clients), {}, ())


def possible(plan: Plan, hosts: Hosts) -> Possible:
    """Return the plan for these hosts, after a check of the requirements of its systems.

    Raises ``PlanError`` for a plan that no hosts can run, and when two planned kinds of queue are
    the same kind on these hosts.
    """
    check_plan(plan)
    kinds: dict[str, dict[str, str]] = {}
    refused: list[Refused] = []
    sets = [options for _, options in sets_of(plan.load.driver)]
    declared = {kind for name, kind in KINDS.items() if any(options.get(name) for options in sets)}
    for name, spec in plan.systems.items():
        kinds[name] = {}
        for queues in dict.fromkeys((*spec.queues, *sorted(declared))):
            kind, refusals = _kind(plan, name, queues, hosts.broker[0])
            kinds[name] |= {} if kind is None else {queues: kind}
            refused += refusals
        _check_different(plan, name, kinds[name])
    plan = plan.with_queues(kinds).on(len(hosts.client))
    return Possible(plan, kinds, refused)


def _kind(plan: Plan, name: str, queues: str, host: Host) -> tuple[str | None, list[Refused]]:
    """Return the actual kind for a planned kind of queue, and the settings that refuse it."""
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
    for kind, actual in kinds.items():
        if kind != actual and actual in kinds:
            raise PlanError(
                f"plan {plan.name}: {kind} queues of {SYSTEMS[system].title} are {actual} queues"
                f" here, and the plan asks for those as well: leave one of them out"
            )
