"""Logs of probes that are JSON, a line each time."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mqperf.base import raw
from mqperf.base.errors import ProbeError

M = TypeVar("M", bound=BaseModel)


def json_lines(file: Path, model: type[M], probe: str) -> Iterator[M]:
    """Every line of a probe's log.

    Raises ``ProbeError`` with the line that is cut short, or none of this probe.
    """
    try:
        content = raw.content(file)
    except OSError as error:
        raise ProbeError(f"{file}: no log of the probe {probe}: {error.strerror}") from None
    for number, line in enumerate(content.splitlines(), 1):
        try:
            yield model.model_validate_json(line)
        except ValidationError as error:
            problem, cut = raw.first_problem(error), raw.is_cut(error)
            wrong = "the log is cut short" if cut else f"no line of the probe {probe}: {problem}"
            raise ProbeError(f"{file}:{number}: {wrong}") from None
