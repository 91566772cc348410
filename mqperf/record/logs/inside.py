"""Reading and checking of the log of the probe ``inside``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, JsonValue, model_validator

from mqperf.base.errors import ProbeError
from mqperf.record.logs.json_lines import json_lines

LOG = "inside.jsonl"

Name = Annotated[str, Field(max_length=200)]
Instant = Annotated[float, Field(ge=0, le=1e15)]


class Line(BaseModel, frozen=True, strict=True, allow_inf_nan=False, defer_build=True):
    """The answer of a node at an instant, as ``inside/watching.py`` writes it, or an error.

    Instants and durations are seconds, by the clocks of the host.
    """

    node: Name
    protocol: Name
    epoch: Instant
    monotonic: Instant
    took_s: Instant
    told: JsonValue = None
    error: str | None = None

    @model_validator(mode="after")
    def _told_or_error(self) -> "Line":
        if (self.told is None) == (self.error is None):
            raise ValueError("should have either told or error")
        return self


def lines(file: Path) -> Iterator[Line]:
    """Yield every line; raises ``ProbeError`` with the number of one that is cut or invalid."""
    return json_lines(file, Line, "inside")


def check(folder: Path, host: str) -> None:
    """Raise ``ProbeError`` for an invalid log, and for a node that never answered."""
    file = folder / LOG
    answered: dict[str, bool] = {}
    errors: dict[str, str] = {}
    for line in lines(file):
        answered[line.node] = answered.get(line.node, False) or line.error is None
        errors.setdefault(line.node, line.error or "")
    if not answered:
        raise ProbeError(f"{file}: the probe inside wrote nothing on {host}")
    for node, has_answered in answered.items():
        if not has_answered:
            raise ProbeError(
                f"{file}: {node} never reported metrics: {errors[node]}; leave the probe inside out"
                " of the plan, or see the node's log"
            )
