"""A traffic profile: how much was published a second, to which routes, in which sizes.

It holds no content, and names only where they were asked for.
"""

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from mqperf.base import raw
from mqperf.base.errors import PlanError
from mqperf.plan import Frozen
from mqperf.plan.file.attached import MOST_BYTES

TENTHS = 10
"""Of a second: bursts are told by them."""

MOST_ROUTES = 1_000
MOST_QUEUES = 1_000
"""Of a route."""

MOST_LENGTHS = 256
MOST_SECONDS = 86_400

Count = Annotated[int, Field(ge=0, le=10_000_000)]
LONGEST_NAME = 255
Name = Annotated[str, Field(max_length=LONGEST_NAME)]


class Route(Frozen, strict=True):
    """Messages of one exchange and routing key that went to so many ``queues``.

    ``per_second`` counts them; ``lengths`` are lengths of bodies in bytes, each with how many
    messages have it.
    """

    exchange: Name | None = None
    routing_key: Name | None = None
    queues: int = Field(ge=1, le=MOST_QUEUES)
    per_second: tuple[Count, ...] = Field(min_length=1, max_length=MOST_SECONDS)
    lengths: tuple[
        tuple[Annotated[int, Field(ge=0, le=MOST_BYTES)], Annotated[int, Field(ge=1)]],
        ...,
    ] = Field(min_length=1, max_length=MOST_LENGTHS)

    @property
    def messages(self) -> int:
        """All of them."""
        return sum(self.per_second)

    @model_validator(mode="after")
    def _lengths_of_all(self) -> Self:
        if sum(count for _, count in self.lengths) != self.messages:
            raise ValueError("lengths and per_second count differently many messages")
        return self


class Profile(Frozen, strict=True):
    """What was published to a virtual host in some whole seconds.

    ``tenths`` counts the messages of all routes in each tenth of a second.  ``complete`` says that
    the broker dropped none of what was captured; ``most_waiting`` is how many messages waited to be
    captured at most: they were counted later than they were published.  ``unroutable`` messages
    went to no queue, and are in no route; ``gathered`` ones are in routes of several keys.
    """

    format: Literal["mqperf-traffic"] = "mqperf-traffic"
    version: Literal[1] = 1
    complete: bool
    most_waiting: int = Field(ge=0)
    unroutable: int = Field(ge=0)
    gathered: int = Field(ge=0)
    tenths: tuple[Count, ...] = Field(max_length=TENTHS * MOST_SECONDS)
    routes: tuple[Route, ...] = Field(min_length=1, max_length=2 * MOST_ROUTES)

    @property
    def seconds(self) -> int:
        """Its length."""
        return len(self.routes[0].per_second)

    @property
    def messages(self) -> int:
        """All that went to a queue."""
        return sum(self.tenths)

    def per_second(self) -> list[int]:
        """The messages of all routes."""
        return [sum(counts) for counts in zip(*(r.per_second for r in self.routes), strict=True)]

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if any(len(route.per_second) != self.seconds for route in self.routes):
            raise ValueError("routes have differently many seconds")
        if len(self.tenths) != TENTHS * self.seconds:
            raise ValueError(f"tenths has {len(self.tenths)} counts for {self.seconds} s")
        by_tenths = [sum(part) for part in _parts(self.tenths)]
        if by_tenths != self.per_second():
            raise ValueError("tenths and routes count differently many messages")
        return self


def _parts(tenths: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The tenths of each second."""
    return (tenths[first : first + TENTHS] for first in range(0, len(tenths), TENTHS))


def most_of_a_process(routes: int, processes: int) -> int:
    """How many routes a process has at most, and how many numbers each has."""
    return ceil(routes / processes)


def numbers(routes: int, processes: int) -> list[int]:
    """The number of each route over all processes, to which they are dealt in turn."""
    each = most_of_a_process(routes, processes)
    return [place % processes * each + place // processes for place in range(routes)]


def parsed(content: bytes, name: str) -> Profile:
    """The profile in a file of this name; raises ``PlanError`` for what is none."""
    try:
        return Profile.model_validate_json(content)
    except ValidationError as error:
        problem = raw.first_problem(error)
        raise PlanError(f"{name}: no traffic profile of version 1: {problem}") from None


def content(profile: Profile) -> bytes:
    """The profile as a file."""
    text = profile.model_dump_json(exclude_none=True)
    return (text.replace('{"queues"', '\n{"queues"') + "\n").encode()


def write(profile: Profile, file: Path) -> None:
    """Write the file; it has its name only when it is whole.

    Raises ``PlanError`` where it cannot be written, or no plan could read it.
    """
    written = content(profile)
    if len(written) > MOST_BYTES:
        raise PlanError(
            f"{file}: is not written: the profile has {len(written):,} bytes, and plans read"
            f" {MOST_BYTES:,} of a file; capture for a shorter time"
        )
    draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
    try:
        draft.write_bytes(written)
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise PlanError(f"{file}: cannot be written: {error.strerror}") from None
