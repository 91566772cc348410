"""Types of values in plans: numbers within limits, names, and axes, which are lists of them."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from mqperf.base.packages import BROUGHT
from mqperf.base.problems import integral
from mqperf.base.redaction import shown
from mqperf.plan.test_cases import TEST_CASES

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

Count = Annotated[int, Field(ge=1, le=10_000, strict=True)]
Processes = Annotated[int, Field(ge=1, le=1_000, strict=True)]
Seconds = Annotated[int, Field(ge=0, le=86_400, strict=True)]
Window = Annotated[int, Field(ge=1, le=604_800, strict=True)]
Timeout = Annotated[int, Field(ge=1, le=86_400, strict=True)]
GeneratorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]*$", max_length=50)]
ProbeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=50)]


def _test_case(name: object) -> object:
    """Check that a test case is registered, with an error like that of a ``Literal``."""
    if not isinstance(name, str) or name not in TEST_CASES:
        choices = ", ".join(f"'{case}'" for case in TEST_CASES)
        package = BROUGHT.get(name) if isinstance(name, str) else None
        install = f"; install {package}, the package that brings it" if package else ""
        context = {"expected": choices, "install": install}
        raise PydanticCustomError("literal_error", "one of {expected}{install}", context)
    return name


TestCase = Annotated[str, BeforeValidator(_test_case)]


class Misplaced(ValueError):
    """An error within a value that is validated: ``where`` is the path from that value."""

    def __init__(self, where: tuple[int | str, ...], text: str) -> None:
        super().__init__(text)
        self.where = where


def strictly(model: type[M], data: Mapping[str, Any]) -> M:
    """Validate data with the strict rules for JSON: booleans and texts are no numbers.

    Raises ``ValidationError``.
    """
    try:
        text = json.dumps(data, default=str)
    except (TypeError, ValueError, RecursionError):  # objects of a program that JSON cannot hold
        return model.model_validate(data)
    return model.model_validate_json(text, strict=True)


def simple(value: object, check: ValidatorFunctionWrapHandler) -> object:
    """Raise a single error where no type of a union accepts the value."""
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError("scalar", "a simple value") from None


Scalar = Annotated[
    bool
    | Annotated[int, Field(ge=-(2**53), le=2**53)]
    | Annotated[float, Field(allow_inf_nan=False)]
    | Annotated[str, Field(max_length=4_096)],
    AfterValidator(integral),
    WrapValidator(simple),
]
"""The value of a parameter, which only its owner checks further."""

PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,49}")

Parameter = Annotated[str, Field(pattern=f"^{PARAMETER.pattern}$")]
"""The name of a parameter."""


def check_parameters(
    names: Iterable[str], taken: Collection[str] = (), owner: str = "a load"
) -> None:
    """Raise ``Misplaced`` for a key that is no valid name of a parameter, or is in ``taken``."""
    for name in names:
        if name in taken or not PARAMETER.fullmatch(name):
            raise Misplaced((name,), f"{shown(name)} is no parameter of {owner}: remove it")


def distinct(entries: tuple[T, ...]) -> tuple[T, ...]:
    """Reject repeated entries: two equal cases would be measured into one folder."""
    counts = Counter(entries)
    repeated = [entry for entry in counts if counts[entry] > 1]
    if repeated:
        raise ValueError(f"{shown(repeated[0])} is listed twice: keep one; repeats: measures again")
    return entries


def as_tuple(value: object) -> tuple[Any, ...]:
    """Return a list as a tuple, and a single value as a tuple of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


Listed = Annotated[tuple[T, ...], Field(min_length=1), AfterValidator(distinct)]
"""At least one entry, none of them twice."""

Axis = Annotated[Listed[T], BeforeValidator(as_tuple)]
"""One value, or a list of those that are swept."""


class Frozen(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True):
    """Base of all models of plans: immutable, and without unknown keys."""
