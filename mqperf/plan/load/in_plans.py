"""What is wrong with the ``load`` of a plan, as far as only its generator knows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from pydantic import ValidationError

from mqperf.base.problems import Problem, Where, nearest, of_validation, unknown
from mqperf.plan import RATE, BackgroundLoad, LoadPlan, strictly
from mqperf.plan.load import GENERATORS, Generator


def problems_of(load: Mapping[str, object], test_cases: object) -> Iterator[Problem]:
    """A generator that there is not, or a test case or parameter that is none of its own.

    ``load`` is as the plan's document holds it; places count from the plan.
    """
    name = load.get("generator", LoadPlan.model_fields["generator"].default)
    if not isinstance(name, str):
        return
    if name not in GENERATORS:
        yield Problem(("load", "generator"), unknown("generator", name, list(GENERATORS)))
        return
    yield from _of_test_cases(GENERATORS[name], test_cases)
    for problem in _of_parameters(GENERATORS[name], load, [*LoadPlan.model_fields]):
        yield Problem(("load", *problem.where), problem.text)


def problems_of_asking(
    load: Mapping[str, object], *, searches: bool, ends_early: bool
) -> Iterator[Problem]:
    """What a plan asks that the generator of its load cannot: a rate that is set, an early end."""
    name = load.get("generator", LoadPlan.model_fields["generator"].default)
    generator = GENERATORS.get(name) if isinstance(name, str) else None
    for key, asked, able, words in (
        ("search", searches, _is_paced, "keeps to no offered rate; these do"),
        ("fail_when", ends_early, _ends_early, "cannot be ended early; these can"),
    ):
        if generator is not None and asked and not able(generator):
            others = ", ".join(other.name for other in GENERATORS.values() if able(other))
            yield Problem((key,), f"{generator.title} {words}: {others}")


def _is_paced(generator: Generator) -> bool:
    return RATE in generator.parameters.model_fields


def _ends_early(generator: Generator) -> bool:
    return generator.ends_early


def problems_beside(background: Sequence[object]) -> Iterator[Problem]:
    """The same of background loads, as the plan's document holds them."""
    default = BackgroundLoad.model_fields["generator"].default
    for index, load in enumerate(background):
        name = load.get("generator", default) if isinstance(load, Mapping) else None
        if not isinstance(load, Mapping) or not isinstance(name, str):
            continue
        where = ("background", index)
        if name not in GENERATORS:
            text = unknown("generator", name, list(GENERATORS))
            yield Problem((*where, "generator"), text)
            continue
        for problem in _of_test_cases(GENERATORS[name], [load.get("test_case")]):
            yield Problem((*where, "test_case"), problem.text)
        keys = [*BackgroundLoad.model_fields]
        for problem in _of_parameters(GENERATORS[name], load, keys):
            yield Problem((*where, *problem.where), problem.text)


def incompatible_queues_of(load: Mapping[str, object], kind: str) -> str | None:
    """Why messages of a load cannot be in a kind of queue, for the first point of which it is so.

    ``load`` is as the plan's document holds it.
    """
    default = LoadPlan.model_fields["generator"].default
    generator = GENERATORS.get(str(load.get("generator", default)))
    if generator is None:
        return None
    parameters = {name: load[name] for name in generator.parameters.model_fields if name in load}
    axes = [value if isinstance(value, list | tuple) else (value,) for value in parameters.values()]
    for chosen in product(*axes):
        if why := generator.incompatible_queues(kind, dict(zip(parameters, chosen, strict=True))):
            return f"{generator.title} cannot have its messages in a {kind}: {why}"
    return None


def _of_test_cases(generator: Generator, names: object) -> Iterator[Problem]:
    for index, case in enumerate(names if isinstance(names, list | tuple) else ()):
        if isinstance(case, str) and case not in generator.test_cases:
            makes = ", ".join(generator.test_cases)
            text = f"{generator.title} does not make {case!r}; it makes: {makes}"
            yield Problem(("test_cases", index), text)


def _of_parameters(
    generator: Generator, load: Mapping[str, object], of_every: Sequence[str]
) -> Iterator[Problem]:
    """Every key that nobody knows, and every value that the generator refuses."""
    fields = generator.parameters.model_fields
    known = [*of_every, *fields]
    for name, field in fields.items():
        if field.is_required() and name not in load:
            yield Problem((name,), "is missing")
    for name, given in load.items():
        if name not in known:
            yield Problem((name,), f"unknown key; {nearest(str(name), known)}")
        elif name in fields:
            listed = isinstance(given, list | tuple)
            for index, value in enumerate(given if isinstance(given, list | tuple) else (given,)):
                for problem in _of_value(generator, name, value):
                    yield Problem((name, index) if listed else (name,), problem.text)
    yield from _together(generator, {name: load[name] for name in fields if name in load})


def _together(generator: Generator, given: Mapping[str, object]) -> Iterator[Problem]:
    """What is wrong with parameters that do not go together, each by its first value."""
    firsts = {
        name: value[0] if isinstance(value, list | tuple) and value else value
        for name, value in given.items()
    }
    try:
        strictly(generator.parameters, firsts)
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
