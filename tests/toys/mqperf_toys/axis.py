"""A parameter of the toy generator, which plans may vary: its model, and its column."""

from typing import Annotated

from pydantic import Field

from mqperf.plan import Frozen
from mqperf.plan.columns import Column

COLUMN = Column(
    name="thinning",
    dtype="Int64",
    meaning="Of so many recorded messages one is replayed.",
    label="thinning",
    check="positive",
    parameter=True,
)


class Parameters(Frozen):
    """What a plan may say of a replay."""

    thinning: Annotated[int, Field(ge=1, le=100)] = 1
