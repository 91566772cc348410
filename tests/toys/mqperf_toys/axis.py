"""A parameter of the toy generator, which plans may vary."""

from pydantic import Field

from mqperf.plan import Frozen


class Parameters(Frozen):
    """The parameters of a replay in a plan."""

    thinning: int = Field(
        1,
        ge=1,
        le=100,
        title="thinning",
        description="Of so many recorded messages one is replayed.",
    )
