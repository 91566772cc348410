"""``events.jsonl``: the events of a run, a line of JSON each."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import RecordError
from mqperf.record.facts import Instant, Recorded, Text
from mqperf.record.instants import utc

FILE = "events.jsonl"
CONTROLLER = "local"
"""The host of events of the runner itself; in a run with several hosts it is none of these."""

SLACK_S = 0.2
"""How far a clock may have been set back between two events of a whole run."""


class Event(Recorded, frozen=True, extra="allow"):
    """Something that happened; further keys are kept as they are."""

    time: Text
    epoch: Instant
    host: Text
    what: str = Field(min_length=1, max_length=100)

    @property
    def detail(self) -> dict[str, Any]:
        """The further keys and their values."""
        return dict(self.model_extra or {})


def read_events(folder: Path, *, torn: bool = False) -> list[Event]:
    """Read the events of a run folder in the order in which they were written.

    With ``torn`` the last line may be cut off, as by a power failure, and is skipped; the file may
    be missing, too.  Raises ``RecordError`` with the number of any other invalid line.
    """
    file = folder / FILE
    try:
        lines = raw.content(file, raw.FACTS_LIMIT_BYTES).split(b"\n")
    except FileNotFoundError:
        if torn:
            return []
        raise RecordError(f"{file}: is missing") from None
    except OSError as error:
        raise RecordError(f"{file}: cannot be read: {error.strerror}") from None
    if lines.pop() and not torn:
        raise RecordError(f"{file}:{len(lines) + 1}: the line is cut off")
    events = [_event(file, number, line) for number, line in enumerate(lines, 1)]
    for number, (before, after) in enumerate(pairwise(events), 2):
        if not torn and (after == before or after.epoch < before.epoch - SLACK_S):
            raise RecordError(f"{file}:{number}: the event repeats or precedes the line before it")
    return events


def _event(file: Path, number: int, line: bytes) -> Event:
    try:
        event = Event.model_validate_json(line)
        json.dumps(event.detail, allow_nan=False)
    except ValidationError as error:
        raise RecordError(f"{file}:{number}: {raw.first_problem(error)}") from None
    except ValueError:
        raise RecordError(f"{file}:{number}: a number is not finite") from None
    if event.time != utc(event.epoch):
        raise RecordError(f"{file}:{number}: {event.time} is not the instant {event.epoch}")
    return event
