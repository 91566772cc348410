"""The load of a plan: one or several generators, and all that is swept of it."""

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
"""An option of a driver, or what a plan calls a set of them."""


TAKEN = (*Case.model_fields, "sentinel")
"""What no parameter is called."""


def _alone(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    check_parameters(parameters, (*TAKEN, *PACE, SET), "one generator alone")
    return parameters


Generators = Annotated[
    Mapping[GeneratorName, Annotated[dict[str, Axis[Scalar]], AfterValidator(_alone)]],
    Field(min_length=1, validate_default=True),
    BeforeValidator(lambda given: {given: {}} if isinstance(given, str) else given),
    PlainSerializer(lambda of: of if len(of) > 1 or any(of.values()) else next(iter(of))),
]
"""Generators by name, with parameters of each alone; a name by itself is one without these."""


class LoadPlan(Frozen, extra="allow"):
    """The load of every point: each key but ``generator`` is a value, or a list that is swept.

    What it does not know are parameters of all its generators, unless one says another value for
    itself alone; ``driver`` has options of a driver, or named sets of such, of which each point has
    one.
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
        """The values of each parameter that all its generators have."""
        return dict(self.__pydantic_extra__)

    def points(self) -> Iterator[dict[str, Any]]:
        """What a case says of its load: every combination, green threads varying fastest."""
        axes = self._axes
        for generator, alone in self.generator.items():
            swept = self.parameters | alone
            for options, *chosen in product(points_of(self.driver), *swept.values()):
                parameters = options | dict(zip(swept, chosen, strict=True))
                for values in product(*axes.values()):
                    point = dict(zip(axes, values, strict=True))
                    yield {"generator": generator, "parameters": parameters, **point}

    @property
    def number_of_points(self) -> int:
        """How many there are, without making them."""
        shared = number_of_points(self.driver) * math.prod(map(len, self._axes.values()))
        swept = ((self.parameters | alone).values() for alone in self.generator.values())
        return shared * sum(math.prod(map(len, axes)) for axes in swept)

    @property
    def _axes(self) -> dict[str, tuple[Any, ...]]:
        """What is no parameter of the generator; of green threads there are other values first."""
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
