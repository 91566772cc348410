"""The log of the probe of the inside: how it is read, and when it is no sound one."""

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
    """What a node told at an instant, as ``inside/watching.py`` writes it; or why it told nothing.

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
    def _one_of_both(self) -> "Line":
        if (self.told is None) == (self.error is None):
            raise ValueError("should have either told or error")
        return self


def lines(file: Path) -> Iterator[Line]:
    """Every line; raises ``ProbeError`` with the one that is cut short, or none of this probe."""
    return json_lines(file, Line, "inside")


def check(folder: Path, host: str) -> None:
    """Raise ``ProbeError`` for a log that is not sound, and for a node that never answered."""
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
                f"{file}: {node} never told of its inside: {errors[node]}; leave the probe inside"
                " out of the plan, or see the node's log"
            )
