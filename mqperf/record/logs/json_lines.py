"""Probe logs with one JSON object per line."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mqperf.base import raw
from mqperf.base.errors import ProbeError

M = TypeVar("M", bound=BaseModel)


def json_lines(file: Path, model: type[M], probe: str) -> Iterator[M]:
    """Yield every line of a probe's log, parsed by the model.

    Raises ``ProbeError`` with the number of a line that is cut short or invalid.
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
            text = "the log is cut short" if cut else f"no line of the probe {probe}: {problem}"
            raise ProbeError(f"{file}:{number}: {text}") from None
