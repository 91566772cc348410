"""What is wrong with the ``load`` of a plan, as far as only its generator knows."""

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
    """A generator that there is not, or a test case or parameter that is none of its own.

    ``load`` is as the plan's document holds it; places count from the plan.
    """
    loads = by_generator(load)
    generators = [generator for generator in map(_generator, loads) if generator is not None]
    known = Counter(name for each in generators for name in each.parameters.model_fields)
    # a load without options of a driver has an empty mapping of them
    partly = (("load", key) for key in load if load[key] != {} and 0 < known[key] < len(generators))
    text = "not every generator of the load knows it: say it under those that do"
    problems: dict[Where, Problem] = {where: Problem(where, text) for where in partly}
    for generator in generators:
        for index, case in enumerate(as_list(test_cases)):
            yield from _of_test_case(generator, case, ("test_cases", index))
    for alone in loads:
        for problem in _of_load(alone, [*LoadPlan.model_fields]):
            inside = {*problem.where[:1]} & (alone.keys() - load.keys())
            under = ("generator", str(alone["generator"])) if inside else ()
            where = ("load", *under, *problem.where)
            problems.setdefault(where, Problem(where, problem.text))
    yield from problems.values()


def by_generator(load: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The load of each of its generators, as if it had no other; as the document holds it."""
    several = as_mapping(load.get("generator")).items()
    return [{**load, **as_mapping(alone), "generator": name} for name, alone in several] or [load]


def _generator(load: Mapping[str, object]) -> Generator | None:
    """The generator that a load names, or has if it names none."""
    name = load.get("generator", LoadPlan.model_fields["generator"].default)
    return GENERATORS.get(name) if isinstance(name, str) else None


def _of_load(load: Mapping[str, object], of_every: Sequence[str]) -> Iterator[Problem]:
    if (generator := _generator(load)) is not None:
        yield from _of_parameters(generator, load, of_every)
    elif isinstance(name := load["generator"], str):
        yield Problem(("generator",), unknown("generator", name, list(GENERATORS)))


def problems_of_asking(
    load: Mapping[str, object], *, searches: bool, ends_early: bool
) -> Iterator[Problem]:
    """What a plan asks that the generator of its load cannot: a rate that is set, an early end."""
    paced = [each for each in GENERATORS.values() if RATE in each.parameters.model_fields]
    ending = [each for each in GENERATORS.values() if each.ends_early]
    for key, asked, able, words in (
        ("search", searches, paced, "keeps to no offered rate; these do"),
        ("fail_when", ends_early, ending, "cannot be ended early; these can"),
    ):
        others = ", ".join(other.name for other in able)
        for generator in map(_generator, by_generator(load)) if asked else ():
            if generator is not None and generator not in able:
                yield Problem((key,), f"{generator.title} {words}: {others}")


def problems_beside(background: Sequence[object]) -> Iterator[Problem]:
    """The same of background loads, as the plan's document holds them."""
    for index, load in enumerate(background):
        if isinstance(load, Mapping):
            where = ("background", index)
            yield from _of_test_case(_generator(load), load.get("test_case"), (*where, "test_case"))
            for problem in _of_load(load, [*BackgroundLoad.model_fields]):
                yield Problem((*where, *problem.where), problem.text)


def incompatible_queues_of(load: Mapping[str, object], kind: str) -> str | None:
    """Why messages of a load cannot be in a kind of queue, for the first point of which it is so.

    ``load`` is as the plan's document holds it.
    """
    if (generator := _generator(load)) is None:
        return None
    parameters = {name: load[name] for name in generator.parameters.model_fields if name in load}
    for _, options in sets_of(parameters.pop(SET, {})):
        axes = {**parameters, **options}
        for chosen in product(*map(as_tuple, axes.values())):
            if why := generator.incompatible_queues(kind, dict(zip(axes, chosen, strict=True))):
                return f"{generator.title} cannot have its messages in {kind} queues: {why}"
    return None


def _of_test_case(generator: Generator | None, case: object, where: Where) -> Iterator[Problem]:
    if generator is not None and isinstance(case, str) and case not in generator.test_cases:
        makes = ", ".join(generator.test_cases)
        yield Problem(where, f"{generator.title} does not make {case!r}; it makes: {makes}")


def _of_parameters(
    generator: Generator, load: Mapping[str, object], of_every: Sequence[str]
) -> Iterator[Problem]:
    """Every key that nobody knows, and every value or point that the generator refuses."""
    fields = {
        name: field
        for name, field in generator.parameters.model_fields.items()
        if name not in {SET, *OPTIONS}
    }
    known = [*of_every, *fields]
    for name, field in fields.items():
        if field.is_required() and name not in load:
            yield Problem((name,), "is missing")
    for name, given in load.items():
        if name not in known:
            yield Problem((name,), f"unknown key; {nearest(str(name), known)}")
        elif name in fields:
            yield from _of_values(generator, name, given)
    given = {name: as_tuple(load[name]) or (load[name],) for name in fields if name in load}
    wrong: list[Problem] = []
    for values in islice(product(*given.values()), MAX_CASES):
        point = dict(zip(given, values, strict=True))
        wrong += [problem for problem in _together(generator, point) if problem not in wrong]
    yield from wrong
    if load.get(SET):
        firsts = {name: values[0] for name, values in given.items()}
        yield from _of_driver(generator, load[SET], firsts)


def _of_driver(
    generator: Generator, driver: object, firsts: Mapping[str, object]
) -> Iterator[Problem]:
    """Options of another type, listed twice, or that do not go together in some point."""
    if not issubclass(generator.parameters, Driven):
        yield Problem((SET,), f"{generator.title} has no options of a driver: leave it out")
        return
    for place, options in sets_of(driver):
        said = {name: given for name, given in options.items() if name in OPTIONS}
        wrong = [problem for name in said for problem in _of_values(generator, name, said[name])]
        lists = {name: as_tuple(given) for name, given in said.items()}
        text = "expected a value, or a list of different ones"
        different = (
            name for name, values in lists.items() if not 0 < len({*values}) == len(values)
        )
        wrong += [Problem((name,), text) for name in (() if wrong else different)]
        for point in islice(points_of(said) if not wrong else (), MAX_CASES):
            wrong += [p for p in _together(generator, {**firsts, **point}) if p not in wrong]
        yield from (Problem((SET, *place, *problem.where), problem.text) for problem in wrong)


def _of_values(generator: Generator, name: str, given: object) -> Iterator[Problem]:
    """What is wrong with a value of a parameter, or each of a list."""
    for index, value in enumerate(as_tuple(given)):
        for problem in _of_value(generator, name, value):
            where = (name, index) if isinstance(given, list | tuple) else (name,)
            yield Problem(where, problem.text)


def _together(generator: Generator, values: Mapping[str, object]) -> Iterator[Problem]:
    """What is wrong with parameters that do not go together."""
    try:
        strictly(generator.parameters, values)
    except ValidationError as error:
        of_all = _of_all(error)
        yield from (p for p in of_validation(error, lambda _: []) if p.where in of_all)


def _of_value(generator: Generator, name: str, value: object) -> Iterator[Problem]:
    try:
        strictly(generator.parameters, {name: value})
    except ValidationError as error:
        problems = of_validation(error, lambda _: list(generator.parameters.model_fields))
        of_all = _of_all(error)
        yield from (p for p in problems if p.where[:1] == (name,) and p.where not in of_all)


def _of_all(error: ValidationError) -> set[Where]:
    """The places of what is wrong with parameters together."""
    of_model = (detail for detail in error.errors(include_url=False) if not detail["loc"])
    return {getattr(detail.get("ctx", {}).get("error"), "where", ()) for detail in of_model}
