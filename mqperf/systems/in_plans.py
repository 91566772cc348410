"""What is wrong with the ``systems`` of a plan, as far as only the systems themselves know."""

from collections.abc import Iterator, Mapping

from mqperf.errors import PlanError, SystemFault
from mqperf.plan import SystemPlan
from mqperf.plan_file.problems import NOUNS, Problem, unknown
from mqperf.systems import SYSTEMS
from mqperf.systems.settings import SettingsFault
from mqperf.systems.system import System
from mqperf.topologies import QUEUES, TOPOLOGIES


def problems_of(systems: Mapping[str, object]) -> Iterator[Problem]:
    """Every system that there is not, and what each other one lacks or cannot be started with.

    ``systems`` is as the plan's document holds it; what has another form is not looked at.
    """
    for name, spec in systems.items():
        if name not in SYSTEMS:
            yield Problem(("systems", name), unknown("systems", name, list(SYSTEMS)))
        elif isinstance(spec, Mapping):
            for problem in _problems(SYSTEMS[name], spec):
                yield Problem(("systems", name, *problem.where), problem.text)


def _problems(system: System, spec: Mapping[str, object]) -> Iterator[Problem]:
    default = SystemPlan.model_fields["queues"].default
    yield from _lacking(system, "topologies", spec.get("topologies"))
    yield from _lacking(system, "queues", spec.get("queues", default))
    settings = spec.get("settings")
    if isinstance(settings, Mapping):
        try:
            system.check(settings)
        except SettingsFault as fault:
            for problem in fault.problems:
                yield Problem(("settings", *problem.where), problem.text)
        except (SystemFault, PlanError) as fault:
            yield Problem(("settings",), str(fault))


def _lacking(system: System, kind: str, names: object) -> Iterator[Problem]:
    """The topologies or kinds of queue that exist, and that this system has not."""
    known: Mapping[str, object] = TOPOLOGIES if kind == "topologies" else QUEUES
    own = system.topologies if kind == "topologies" else system.queues
    for index, name in enumerate(names if isinstance(names, list | tuple) else ()):
        if isinstance(name, str) and name in known and name not in own:
            text = f"{system.title} has no {NOUNS[kind]} {name!r}; it has: {', '.join(own)}"
            yield Problem((kind, index), text)
