"""Problems with the ``load`` of a plan that only its generators can find."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from pydantic import ValidationError

from mqperf.base.document import as_list, as_mapping
from mqperf.base.problems import Problem, Where, nearest, of_validation, unknown
from mqperf.plan import MAX_CASES, RATE, BackgroundLoad, LoadPlan, strictly
from mqperf.plan.driver import OPTIONS, SET, Driven, points_of, sets_of
from mqperf.plan.load import GENERATORS, Generator
from mqperf.plan.values import as_tuple


def problems_of(load: Mapping[str, object], test_cases: object) -> Iterator[Problem]:
    """Yield a problem for each unknown generator, and each test case or parameter that it lacks.

    ``load`` is data of the plan's document; paths of problems start at the plan.
    """
    loads = by_generator(load)
    generators = [generator for generator in map(_generator, loads) if generator is not None]
    known = Counter(name for each in generators for name in each.parameters.model_fields)
    # a load without options of a driver has an empty mapping of them
    partly = (("load", key) for key in load if load[key] != {} and 0 < known[key] < len(generators))
    text = "not every generator of the load knows it: give it under those that do"
    problems: dict[Where, Problem] = {where: Problem(where, text) for where in partly}
    for generator in generators:
        for index, case in enumerate(as_list(test_cases)):
            yield from _of_test_case(generator, case, ("test_cases", index))
    for single in loads:
        for problem in _of_load(single, [*LoadPlan.model_fields]):
            is_own = {*problem.where[:1]} & (single.keys() - load.keys())
            parent = ("generator", str(single["generator"])) if is_own else ()
            where = ("load", *parent, *problem.where)
            problems.setdefault(where, Problem(where, problem.text))
    yield from problems.values()


def by_generator(load: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Split a load with several generators into one load for each of them."""
    several = as_mapping(load.get("generator")).items()
    return [{**load, **as_mapping(alone), "generator": name} for name, alone in several] or [load]


def _generator(load: Mapping[str, object]) -> Generator | None:
    """Return the generator that a load names, or the default one; None for an unknown name."""
    name = load.get("generator", LoadPlan.model_fields["generator"].default)
    return GENERATORS.get(name) if isinstance(name, str) else None


def _of_load(load: Mapping[str, object], common_keys: Sequence[str]) -> Iterator[Problem]:
    if (generator := _generator(load)) is not None:
        yield from _of_parameters(generator, load, common_keys)
    elif isinstance(name := load["generator"], str):
        yield Problem(("generator",), unknown("generator", name, list(GENERATORS)))


def problems_of_asking(
    load: Mapping[str, object], *, searches: bool, ends_early: bool
) -> Iterator[Problem]:
    """Yield a problem for each generator that lacks an offered rate, or an early end, if needed."""
    paced = [each for each in GENERATORS.values() if RATE in each.parameters.model_fields]
    ending = [each for each in GENERATORS.values() if each.ends_early]
    for key, needed, able, text in (
        ("search", searches, paced, "keeps to no offered rate; these do"),
        ("fail_when", ends_early, ending, "cannot be ended early; these can"),
    ):
        names = ", ".join(each.name for each in able)
        for generator in map(_generator, by_generator(load)) if needed else ():
            if generator is not None and generator not in able:
                yield Problem((key,), f"{generator.title} {text}: {names}")


def problems_beside(background: Sequence[object]) -> Iterator[Problem]:
    """Yield the problems of background loads, as ``problems_of`` does for the measured load."""
    for index, load in enumerate(background):
        if isinstance(load, Mapping):
            where = ("background", index)
            yield from _of_test_case(_generator(load), load.get("test_case"), (*where, "test_case"))
            for problem in _of_load(load, [*BackgroundLoad.model_fields]):
                yield Problem((*where, *problem.where), problem.text)


def incompatible_queues_of(load: Mapping[str, object], kind: str) -> str | None:
    """Return why a load cannot use a kind of queue, for its first such point; None where it can.

    ``load`` is data of the plan's document.
    """
    if (generator := _generator(load)) is None:
        return None
    parameters = {name: load[name] for name in generator.parameters.model_fields if name in load}
    for _, options in sets_of(parameters.pop(SET, {})):
        axes = {**parameters, **options}
        for values in product(*map(as_tuple, axes.values())):
            if reason := generator.incompatible_queues(kind, dict(zip(axes, values, strict=True))):
                return f"{generator.title} cannot have its messages in {kind} queues: {reason}"
    return None


def _of_test_case(generator: Generator | None, case: object, where: Where) -> Iterator[Problem]:
    if generator is not None and isinstance(case, str) and case not in generator.test_cases:
        supported = ", ".join(generator.test_cases)
        yield Problem(where, f"{generator.title} does not make {case!r}; it makes: {supported}")


def _of_parameters(
    generator: Generator, load: Mapping[str, object], common_keys: Sequence[str]
) -> Iterator[Problem]:
    """Yield each missing or unknown key, and each value or point that the generator refuses."""
    fields = {
        name: field
        for name, field in generator.parameters.model_fields.items()
        if name not in {SET, *OPTIONS}
    }
    known = [*common_keys, *fields]
    for name, field in fields.items():
        if field.is_required() and name not in load:
            yield Problem((name,), "is missing")
    for name, value in load.items():
        if name not in known:
            yield Problem((name,), f"unknown key; {nearest(str(name), known)}")
        elif name in fields:
            yield from _of_values(generator, name, value)
    axes = {name: as_tuple(load[name]) or (load[name],) for name in fields if name in load}
    found: list[Problem] = []
    for values in islice(product(*axes.values()), MAX_CASES):
        point = dict(zip(axes, values, strict=True))
        found += [problem for problem in _of_point(generator, point) if problem not in found]
    yield from found
    if load.get(SET):
        firsts = {name: values[0] for name, values in axes.items()}
        yield from _of_driver(generator, load[SET], firsts)


def _of_driver(
    generator: Generator, driver: object, firsts: Mapping[str, object]
) -> Iterator[Problem]:
    """Yield options of a wrong type, listed twice, or that contradict each other in some point."""
    if not issubclass(generator.parameters, Driven):
        yield Problem((SET,), f"{generator.title} has no options of a driver: leave it out")
        return
    for path, options in sets_of(driver):
        known = {name: value for name, value in options.items() if name in OPTIONS}
        found = [problem for name in known for problem in _of_values(generator, name, known[name])]
        lists = {name: as_tuple(value) for name, value in known.items()}
        text = "expected a value, or a list of different ones"
        repeated = (name for name, values in lists.items() if not 0 < len({*values}) == len(values))
        found += [Problem((name,), text) for name in (() if found else repeated)]
        for point in islice(points_of(known) if not found else (), MAX_CASES):
            found += [p for p in _of_point(generator, {**firsts, **point}) if p not in found]
        yield from (Problem((SET, *path, *problem.where), problem.text) for problem in found)


def _of_values(generator: Generator, name: str, values: object) -> Iterator[Problem]:
    """Yield the problems of a parameter's value, or of each value in a list."""
    for index, value in enumerate(as_tuple(values)):
        for problem in _of_value(generator, name, value):
            where = (name, index) if isinstance(values, list | tuple) else (name,)
            yield Problem(where, problem.text)


def _of_point(generator: Generator, values: Mapping[str, object]) -> Iterator[Problem]:
    """Yield the problems of parameters that are invalid in combination."""
    try:
        strictly(generator.parameters, values)
    except ValidationError as error:
        of_model = _model_paths(error)
        yield from (p for p in of_validation(error, lambda _: []) if p.where in of_model)


def _of_value(generator: Generator, name: str, value: object) -> Iterator[Problem]:
    try:
        strictly(generator.parameters, {name: value})
    except ValidationError as error:
        problems = of_validation(error, lambda _: list(generator.parameters.model_fields))
        of_model = _model_paths(error)
        yield from (p for p in problems if p.where[:1] == (name,) and p.where not in of_model)


def _model_paths(error: ValidationError) -> set[Where]:
    """Return the paths of problems that validators of the whole model raised."""
    of_model = (detail for detail in error.errors(include_url=False) if not detail["loc"])
    return {getattr(detail.get("ctx", {}).get("error"), "where", ()) for detail in of_model}
