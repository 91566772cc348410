"""Load beside the one that is measured, as a plan says it."""

from typing import Self

from pydantic import Field, model_validator

from mqperf.plan.values import (
    Count,
    Frozen,
    GeneratorName,
    Processes,
    Scalar,
    TestCase,
    Timeout,
    check_parameters,
)

BEFORE_S = 2
"""Seconds by which it begins before the measured load."""

AFTER_S = 2
"""Seconds by which it goes on after the measured load has ended."""

PARAMETERS = 100
"""Of a generator, at most."""


class BackgroundLoad(Frozen, extra="allow"):
    """A load that flows all the time in which the measured one does; nothing of it is swept.

    What it does not know are parameters of the generator.
    """

    __pydantic_extra__: dict[str, Scalar] = Field(init=False)

    generator: GeneratorName = "simulator"
    test_case: TestCase
    green_threads: Count
    processes: Processes = 1
    timeout_s: Timeout = 10

    @property
    def parameters(self) -> dict[str, Scalar]:
        """The parameters of the generator that the plan says."""
        return dict(self.__pydantic_extra__)

    @property
    def threads(self) -> int:
        """Green threads over its processes."""
        return self.green_threads * self.processes

    @model_validator(mode="after")
    def _no_other_key(self) -> Self:
        check_parameters(self.parameters)
        if len(self.parameters) > PARAMETERS:
            raise ValueError(f"a load has at most {PARAMETERS} parameters")
        return self
