"""Values of a plan: numbers within limits, names, and lists of them that are axes."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from mqperf.base.redaction import shown
from mqperf.plan.test_cases import TEST_CASES

T = TypeVar("T")

Count = Annotated[int, Field(ge=1, le=10_000, strict=True)]
Processes = Annotated[int, Field(ge=1, le=1_000, strict=True)]
Seconds = Annotated[int, Field(ge=0, le=86_400, strict=True)]
Window = Annotated[int, Field(ge=1, le=604_800, strict=True)]
Timeout = Annotated[int, Field(ge=1, le=86_400, strict=True)]
GeneratorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]*$", max_length=50)]
ProbeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=50)]


def _test_case(name: object) -> object:
    """A registered test case, told as pydantic tells of a choice."""
    if not isinstance(name, str) or name not in TEST_CASES:
        known = ", ".join(f"'{case}'" for case in TEST_CASES)
        raise PydanticCustomError("literal_error", "one of {expected}", {"expected": known})
    return name


TestCase = Annotated[str, BeforeValidator(_test_case)]


def _whole(value: object) -> object:
    """Equal numbers are one value, and one id: 1 and 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Scalar = Annotated[
    bool
    | Annotated[int, Field(ge=-(2**53), le=2**53)]
    | Annotated[float, Field(allow_inf_nan=False)]
    | Annotated[str, Field(max_length=4_096)],
    AfterValidator(_whole),
]
"""A parameter's value, of which only its owner knows more."""

PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,49}")

Parameter = Annotated[str, Field(pattern=f"^{PARAMETER.pattern}$")]
"""The name of a parameter."""


def check_parameters(
    names: Iterable[str], taken: Collection[str] = (), owner: str = "a load"
) -> None:
    """Raise ``ValueError`` for a key of its owner that no parameter can have, or that is taken."""
    for name in names:
        if name in taken or not PARAMETER.fullmatch(name):
            raise ValueError(f"{shown(name)} is no parameter of {owner}: remove it")


def distinct(entries: tuple[T, ...]) -> tuple[T, ...]:
    """Two equal entries would be one case, measured twice into one folder."""
    counted = Counter(entries)
    repeated = [entry for entry in counted if counted[entry] > 1]
    if repeated:
        raise ValueError(f"{shown(repeated[0])} is listed twice: keep one; repeats: measures again")
    return entries


def _as_list(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value,)


Listed = Annotated[tuple[T, ...], Field(min_length=1), AfterValidator(distinct)]
"""At least one entry, none of them twice."""

Axis = Annotated[Listed[T], BeforeValidator(_as_list)]
"""One value, or a list of those that are swept."""


class Frozen(BaseModel):
    """Checked once, never changed, and no key that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
