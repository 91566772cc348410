"""The load of a plan: one or several generators, and the swept values of its parameters."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    PlainSerializer,
    model_validator,
)

from mqperf.plan.agreement import MAX_THREADS
from mqperf.plan.case import Case
from mqperf.plan.driver import SET, number_of_points, points_of
from mqperf.plan.pace import PACE
from mqperf.plan.values import (
    Axis,
    Count,
    Frozen,
    GeneratorName,
    Misplaced,
    Processes,
    Scalar,
    Seconds,
    Timeout,
    Window,
    check_parameters,
)

OptionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.,%+/-]*$", max_length=60)]
"""An option of a driver, or the name that a plan gives to a set of options."""


TAKEN = (*Case.model_fields, "sentinel")
"""Names that a parameter cannot have."""


def _checked(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    check_parameters(parameters, (*TAKEN, *PACE, SET), "one generator alone")
    return parameters


Generators = Annotated[
    Mapping[GeneratorName, Annotated[dict[str, Axis[Scalar]], AfterValidator(_checked)]],
    Field(min_length=1, validate_default=True),
    BeforeValidator(lambda value: {value: {}} if isinstance(value, str) else value),
    PlainSerializer(lambda own: own if len(own) > 1 or any(own.values()) else next(iter(own))),
]
"""Generators by name, each with parameters of its own; a bare name is one without any."""


class LoadPlan(Frozen, extra="allow"):
    """The load of every point: each key but ``generator`` is a value, or a list that is swept.

    Further keys are parameters of all its generators, each of which may override them for itself;
    ``driver`` has options of a driver, or named sets of options, of which each point has one.
    """

    __pydantic_extra__: dict[str, Axis[Scalar]] = Field(init=False)

    generator: Generators = "simulator"  # type: ignore[assignment]  # which is validated
    driver: Mapping[OptionName, JsonValue] = Field(default_factory=dict)
    green_threads: Axis[Count]
    processes: Axis[Processes] = (1,)
    hosts: Axis[Processes] = (1,)
    duration_s: Axis[Window]
    warmup_s: Axis[Seconds] = (2,)
    cooldown_s: Axis[Seconds] = (1,)
    timeout_s: Axis[Timeout] = (10,)

    @property
    def parameters(self) -> dict[str, tuple[Any, ...]]:
        """The values of each parameter that is set for all its generators."""
        return dict(self.__pydantic_extra__)

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the load fields of each case: every combination, green threads varying fastest."""
        axes = self._axes
        for generator, own in self.generator.items():
            swept = self.parameters | own
            for options, *combination in product(points_of(self.driver), *swept.values()):
                parameters = options | dict(zip(swept, combination, strict=True))
                for values in product(*axes.values()):
                    point = dict(zip(axes, values, strict=True))
                    yield {"generator": generator, "parameters": parameters, **point}

    @property
    def number_of_points(self) -> int:
        """The number of points, without building them."""
        shared = number_of_points(self.driver) * math.prod(map(len, self._axes.values()))
        swept = ((self.parameters | own).values() for own in self.generator.values())
        return shared * sum(math.prod(map(len, axes)) for axes in swept)

    @property
    def _axes(self) -> dict[str, tuple[Any, ...]]:
        """The keys that are no parameters of a generator; green threads last, to vary fastest."""
        names = [name for name in type(self).model_fields if name not in {"generator", SET}]
        return {name: getattr(self, name) for name in reversed(names)}

    @model_validator(mode="after")
    def _no_other_key(self) -> Self:
        check_parameters(self.parameters, TAKEN)
        return self

    @model_validator(mode="after")
    def _within_thread_limit(self) -> Self:
        threads = max(self.green_threads) * max(self.processes)
        if threads > MAX_THREADS:
            raise Misplaced(
                ("green_threads",),
                f"a case has {threads:,} green threads over its processes,"
                f" at most {MAX_THREADS:,} are allowed: lower green_threads or processes",
            )
        return self
