"""Background loads of a plan, which run beside the measured load."""

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
"""Seconds by which a background load starts before the measured load."""

AFTER_S = 2
"""Seconds for which a background load goes on after the measured load."""

PARAMETERS = 100
"""Most parameters of a generator."""


class BackgroundLoad(Frozen, extra="allow"):
    """A load that runs for as long as the measured one does; nothing in it is swept.

    All further keys are parameters of the generator.
    """

    __pydantic_extra__: dict[str, Scalar] = Field(init=False)

    generator: GeneratorName = "simulator"
    test_case: TestCase
    green_threads: Count
    processes: Processes = 1
    timeout_s: Timeout = 10

    @property
    def parameters(self) -> dict[str, Scalar]:
        """The parameters of the generator that the plan sets."""
        return dict(self.__pydantic_extra__)

    @property
    def threads(self) -> int:
        """Number of green threads over all its processes."""
        return self.green_threads * self.processes

    @model_validator(mode="after")
    def _no_other_key(self) -> Self:
        check_parameters(self.parameters)
        if len(self.parameters) > PARAMETERS:
            raise ValueError(f"a load has at most {PARAMETERS} parameters")
        return self
