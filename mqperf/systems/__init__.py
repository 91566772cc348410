"""Systems under test, one module each."""

from mqperf.errors import PlanError
from mqperf.plan import Plan
from mqperf.systems import activemq, activemq_leveldb, artemis, artemis_ha, rabbitmq, zeromq
from mqperf.systems.system import Deployment, Node, System

__all__ = ["SYSTEMS", "Deployment", "Node", "System", "check_plan", "lookup"]

_KNOWN = (
    rabbitmq.SYSTEM,
    zeromq.SYSTEM,
    activemq.SYSTEM,
    artemis.SYSTEM,
    artemis_ha.SYSTEM,
    activemq_leveldb.SYSTEM,
)

SYSTEMS: dict[str, System] = {system.name: system for system in _KNOWN}


def lookup(name: str) -> System:
    """The system of that name; raises ``PlanError`` with the known ones."""
    if name not in SYSTEMS:
        raise PlanError(f"no system {name!r}; known: {', '.join(SYSTEMS)}")
    return SYSTEMS[name]


def check_plan(plan: Plan) -> None:
    """Raise ``PlanError`` when the plan asks for what no system, or not this one, has."""
    for name, wanted in plan.systems.items():
        system = lookup(name)
        for kind, names, known in (
            ("topology", wanted.topologies, system.topologies),
            ("kind of queue", wanted.queues, system.queues),
        ):
            for missing in (entry for entry in names if entry not in known):
                raise PlanError(
                    f"plan {plan.name}: {system.title} has no {kind} {missing!r};"
                    f" it has: {', '.join(known)}"
                )
        system.check(wanted.settings)
