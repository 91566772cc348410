"""Problems of a plan, by the rules of its systems, generators, probes and actions."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mqperf.base.document import as_list, as_mapping
from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.problems import NOUNS, Problem, unknown
from mqperf.lab.actions import in_plans as of_actions
from mqperf.lab.probes import PROBES
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.settings import SettingsFault
from mqperf.lab.systems.system import System
from mqperf.plan import LoadPlan, SystemPlan, swept_settings
from mqperf.plan.driver import DRIVERS, SET, refusal, sets_of
from mqperf.plan.load import GENERATORS, in_plans
from mqperf.plan.test_cases import STANDARD
from mqperf.plan.topologies import QUEUES

Nodes = tuple[str, tuple[str, ...]]
"""The title of a deployment, and the labels of its nodes."""


def problems_of(
    plan: Mapping[str, object], files: Mapping[str, bytes] = MappingProxyType({})
) -> Iterator[Problem]:
    """Yield unknown systems, and what each system or load lacks or cannot be combined with.

    ``plan`` is the parsed document; values of another form than expected are skipped.  ``files``
    are the contents of the files that it names, by their pins.
    """
    systems, load, loads = as_mapping(plan.get("systems")), plan.get("load"), [*_loads(plan)]
    yield from _system_problems(systems)
    yield from _incompatible_loads(systems, loads)
    yield from _incompatible_generators(systems, loads)
    yield from _incompatible_test_cases(systems, plan)
    if isinstance(load, Mapping):
        for single in in_plans.by_generator(load):
            yield from _unknown_options(systems, single)
        yield from in_plans.problems_of(load, plan.get("test_cases"))
        yield from in_plans.problems_of_asking(
            load,
            searches=plan.get("search") is not None,
            ends_early=plan.get("fail_when") is not None,
        )
    yield from _unknown_probes(as_list(plan.get("probes")))
    nodes = [*_nodes(systems)]
    yield from _disturbances(plan, nodes, files)
    for name, condition in as_mapping(plan.get("conditions")).items():
        for problem in _disturbances(as_mapping(condition), nodes, files):
            yield Problem(("conditions", name, *problem.where), problem.text)


def _disturbances(
    spec: Mapping[str, object], nodes: Sequence[Nodes], files: Mapping[str, bytes]
) -> Iterator[Problem]:
    """Yield problems of background loads and actions of a plan, or of one of its conditions."""
    yield from in_plans.problems_beside(as_list(spec.get("background")))
    actions = as_list(spec.get("actions"))
    for problem in (*of_actions.problems_of(actions, files), *_unknown_nodes(actions, nodes)):
        yield Problem(("actions", *problem.where), problem.text)


def _nodes(systems: Mapping[str, object]) -> Iterator[Nodes]:
    """Yield the labels of the nodes of every deployment of the plan, as far as they are known."""
    for name, spec in systems.items():
        if name not in SYSTEMS or not isinstance(spec, Mapping):
            continue
        settings = _first_values(as_mapping(spec.get("settings")))
        for topology in as_list(spec.get("topologies")):
            labels = _labels(SYSTEMS[name], topology, settings)
            if labels is not None:
                yield f"{SYSTEMS[name].title} ({topology})", labels


def _labels(
    system: System, topology: object, settings: Mapping[str, Any]
) -> tuple[str, ...] | None:
    if not isinstance(topology, str) or not system.offers(topology):
        return None
    try:
        return system.labels(topology, settings)
    except (SystemFault, PlanError):  # reported as a problem of the settings
        return None


def _unknown_nodes(actions: Sequence[object], nodes: Sequence[Nodes]) -> Iterator[Problem]:
    """Yield a problem for each node of an action that some deployment of the plan lacks."""
    for index, action in enumerate(actions):
        node = action.get("node") if isinstance(action, Mapping) else None
        for deployment, labels in nodes if isinstance(node, str) else ():
            if node not in labels:
                text = unknown(f"node of {deployment}", node, labels)
                yield Problem((index, "node"), text)
                break


def _loads(plan: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the measured load by each generator, and the background loads of all conditions."""
    specs = [plan, *map(as_mapping, as_mapping(plan.get("conditions")).values())]
    background = [load for spec in specs for load in as_list(spec.get("background"))]
    for load in (plan.get("load"), *background):
        yield from in_plans.by_generator(load) if isinstance(load, Mapping) else ()


def _incompatible_generators(
    systems: Mapping[str, object], loads: Sequence[Mapping[str, object]]
) -> Iterator[Problem]:
    """Yield a problem for each system to which a generator of the plan cannot connect."""
    default = LoadPlan.model_fields["generator"].default
    names = dict.fromkeys(str(load.get("generator", default)) for load in loads)
    for system in (SYSTEMS[name] for name in systems if name in SYSTEMS):
        unable = [name for name in names if name in GENERATORS and system.driver(name) is None]
        for name in unable[:1]:
            text = f"{GENERATORS[name].title} cannot talk to {system.title}; these can:"
            yield Problem(("systems", system.name), f"{text} {', '.join(system.every_driver)}")


def _incompatible_test_cases(
    systems: Mapping[str, object], plan: Mapping[str, object]
) -> Iterator[Problem]:
    """Yield a problem for each system whose clients cannot run a test case of the plan."""
    test_cases = plan.get("test_cases", STANDARD)
    of_loads = [load.get("test_case") for load in _loads(plan)]
    for system in (SYSTEMS[name] for name in systems if name in SYSTEMS):
        for case in [*as_list(test_cases), *of_loads]:
            if isinstance(case, str) and (why := system.incompatible_test_cases.get(case)):
                yield Problem(("systems", system.name), f"no {case} with {system.title}: {why}")
                break


def _unknown_options(
    systems: Mapping[str, object], load: Mapping[str, object]
) -> Iterator[Problem]:
    """Yield a problem for each driver option that the release for a system does not have."""
    generator = str(load.get("generator", LoadPlan.model_fields["generator"].default))
    for system in (SYSTEMS[name] for name in systems if name in SYSTEMS):
        driver = system.driver(generator) or ""
        for place, options in sets_of(load.get(SET)) if driver in DRIVERS else ():
            refusals = {name: refusal(driver, name) for name in options}
            for name, why in refusals.items():
                if why:
                    yield Problem(("load", SET, *place, name), why)


def _incompatible_loads(
    systems: Mapping[str, object], loads: Sequence[Mapping[str, object]]
) -> Iterator[Problem]:
    """Yield a problem for each kind of queue that a load of the plan cannot use."""
    for name, spec in systems.items():
        for index, kind in enumerate(as_list(as_mapping(spec).get("queues"))):
            if isinstance(kind, str) and kind in QUEUES:
                reasons = (in_plans.incompatible_queues_of(load, kind) for load in loads)
                if why := next(filter(None, reasons), None):
                    yield Problem(("systems", name, "queues", index), why)


def _unknown_probes(names: Sequence[object]) -> Iterator[Problem]:
    """Yield a problem for each unknown probe."""
    for index, name in enumerate(names):
        if isinstance(name, str) and name not in PROBES:
            yield Problem(("probes", index), unknown("probe", name, [*PROBES]))


def _system_problems(systems: Mapping[str, object]) -> Iterator[Problem]:
    for name, spec in systems.items():
        if name not in SYSTEMS:
            yield Problem(("systems", name), unknown("systems", name, list(SYSTEMS)))
        elif isinstance(spec, Mapping):
            for problem in _problems(SYSTEMS[name], spec):
                yield Problem(("systems", name, *problem.where), problem.text)


def _problems(system: System, spec: Mapping[str, object]) -> Iterator[Problem]:
    default = SystemPlan.model_fields["queues"].default
    topologies, queues = as_list(spec.get("topologies")), as_list(spec.get("queues", default))
    settings = spec.get("settings")
    yield from _unsupported(system, "topologies", topologies)
    yield from _unsupported(system, "queues", queues)
    yield from _incompatible_settings(system, topologies, as_mapping(settings))
    yield from _incompatible_queues(system, topologies, queues)
    if isinstance(settings, Mapping):
        for problem in _setting_problems(system, settings):
            yield Problem(("settings", *problem.where), problem.text)


def _incompatible_settings(
    system: System, names: Sequence[object], settings: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield a problem for each topology that the settings of the plan rule out."""
    for index, name in enumerate(names):
        if isinstance(name, str) and (why := system.incompatible_settings(name, settings)):
            yield Problem(("topologies", index), why)


def _incompatible_queues(
    system: System, topologies: Sequence[object], queues: Sequence[object]
) -> Iterator[Problem]:
    """Yield a problem for each kind of queue that a topology of the plan lacks."""
    for index, kind in enumerate(queues):
        reasons = (
            system.incompatible_queues.get((name, kind))
            for name in topologies
            if isinstance(name, str) and isinstance(kind, str)
        )
        if why := next(filter(None, reasons), None):
            yield Problem(("queues", index), why)


def _setting_problems(system: System, settings: Mapping[str, object]) -> Iterator[Problem]:
    """Yield problems of all values of settings; only swept settings have several values."""
    axes = {name: values for name, values in swept_settings(settings).items() if values}
    lists = [name for name in axes if isinstance(settings[name], list)]
    first = _first_values(settings)
    problems = [_at_entry(problem, lists, 0) for problem in _check(system, first)]
    for name, values in axes.items():
        for index, value in enumerate(values[1:], 1):
            of_value = (p for p in _check(system, {**first, name: value}) if p.where[:1] == (name,))
            problems += [_at_entry(problem, lists, index) for problem in of_value]
    yield from dict.fromkeys(problems)


def _first_values(settings: Mapping[str, object]) -> dict[str, Any]:
    """Return the settings with the first value of each swept setting."""
    axes = swept_settings(settings)
    return {**settings, **{name: values[0] for name, values in axes.items() if values}}


def _at_entry(problem: Problem, lists: Sequence[str], index: int) -> Problem:
    """Return the problem with the index of the list entry that has it."""
    key = problem.where[:1]
    return Problem((*key, index), problem.text) if key and key[0] in lists else problem


def _check(system: System, settings: Mapping[str, Any]) -> list[Problem]:
    try:
        system.check(settings)
    except SettingsFault as fault:
        return list(fault.problems)
    except (SystemFault, PlanError) as fault:
        return [Problem((), str(fault))]
    return []


def _unsupported(system: System, kind: str, names: Sequence[object]) -> Iterator[Problem]:
    """Yield a problem for each topology or kind of queue that this system lacks."""
    listed = system.topologies if kind == "topologies" else system.queues
    for index, name in enumerate(names):
        if not isinstance(name, str) or name in listed:
            continue
        if not (kind == "topologies" and system.offers(name)):
            text = f"{system.title} has no {NOUNS[kind]} {name!r}; it has: {', '.join(listed)}"
            yield Problem((kind, index), text)
