"""What is wrong with a plan, as far as only its systems and its generator know."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mqperf.errors import PlanError, SystemFault
from mqperf.load import in_plans
from mqperf.plan import SystemPlan, swept_settings
from mqperf.plan_file.problems import NOUNS, Problem, unknown
from mqperf.probes import named
from mqperf.systems import SYSTEMS
from mqperf.systems.settings import SettingsFault
from mqperf.systems.system import System
from mqperf.topologies import QUEUES, TOPOLOGIES


def problems_of(plan: Mapping[str, object]) -> Iterator[Problem]:
    """Every system that there is not, and what each other one lacks or cannot be started with.

    So with the load.  ``plan`` is as its document holds it; what has another form is not looked at.
    """
    systems, load = plan.get("systems"), plan.get("load")
    if isinstance(systems, Mapping):
        yield from _of_systems(systems)
    if isinstance(load, Mapping):
        yield from in_plans.problems_of(load, plan.get("test_cases"))
    probes = plan.get("probes")
    if isinstance(probes, list | tuple):
        yield from _of_probes(probes)
    beside = plan.get("background")
    if isinstance(beside, list | tuple):
        yield from in_plans.problems_beside(beside)


def _of_probes(names: Sequence[object]) -> Iterator[Problem]:
    """Every probe that there is not, or that has no program to be started."""
    for index, name in enumerate(names):
        if isinstance(name, str) and name not in (known := named()):
            yield Problem(("probes", index), unknown("probe", name, known))


def _of_systems(systems: Mapping[str, object]) -> Iterator[Problem]:
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
        for problem in _of_settings(system, settings):
            yield Problem(("settings", *problem.where), problem.text)


def _of_settings(system: System, settings: Mapping[str, object]) -> Iterator[Problem]:
    """What is wrong with any value of a setting; only what is swept has several."""
    axes = {name: values for name, values in swept_settings(settings).items() if values}
    first = {**settings, **{name: values[0] for name, values in axes.items()}}
    yield from (_placed(problem, axes, 0) for problem in _refused(system, first))
    for name, values in axes.items():
        for index, value in enumerate(values[1:], 1):
            found = _refused(system, {**first, name: value})
            yield from (_placed(p, axes, index) for p in found if p.where[:1] == (name,))


def _placed(problem: Problem, axes: Mapping[str, object], index: int) -> Problem:
    """The problem at the entry of the list that has it."""
    key = problem.where[:1]
    return Problem((*key, index), problem.text) if key and key[0] in axes else problem


def _refused(system: System, settings: Mapping[str, Any]) -> list[Problem]:
    try:
        system.check(settings)
    except SettingsFault as fault:
        return list(fault.problems)
    except (SystemFault, PlanError) as fault:
        return [Problem((), str(fault))]
    return []


def _lacking(system: System, kind: str, names: object) -> Iterator[Problem]:
    """The topologies or kinds of queue that exist, and that this system has not."""
    known: Mapping[str, object] = TOPOLOGIES if kind == "topologies" else QUEUES
    own = system.topologies if kind == "topologies" else system.queues
    for index, name in enumerate(names if isinstance(names, list | tuple) else ()):
        if isinstance(name, str) and name in known and name not in own:
            text = f"{system.title} has no {NOUNS[kind]} {name!r}; it has: {', '.join(own)}"
            yield Problem((kind, index), text)
