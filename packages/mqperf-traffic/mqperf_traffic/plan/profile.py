"""A traffic profile: how much was published a second, to which routes, in which sizes.

It holds no message content, and names only if they were asked for.
"""

import os
from math import ceil
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from mqperf.base import raw
from mqperf.base.errors import PlanError
from mqperf.plan import Frozen
from mqperf.plan.file.attached import MOST_BYTES

TENTHS = 10
"""Tenths in a second: the resolution of bursts."""

MOST_ROUTES = 1_000
MOST_QUEUES = 1_000
"""The most queues of a route."""

MOST_LENGTHS = 256
MOST_SECONDS = 86_400

Count = Annotated[int, Field(ge=0, le=10_000_000)]
LONGEST_NAME = 255
Name = Annotated[str, Field(max_length=LONGEST_NAME)]


class Route(Frozen, strict=True):
    """Messages of one exchange and routing key that went to the same number of ``queues``.

    ``per_second`` counts them; ``lengths`` are pairs of a body's length in bytes and the number of
    messages that have it.
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
        """Messages of all seconds."""
        return sum(self.per_second)

    @model_validator(mode="after")
    def _lengths_of_all(self) -> Self:
        if sum(count for _, count in self.lengths) != self.messages:
            raise ValueError("lengths and per_second count differently many messages")
        return self


class Profile(Frozen, strict=True):
    """What was published to a virtual host in some whole seconds.

    ``tenths`` counts the messages of all routes in each tenth of a second.  ``complete`` says that
    the broker dropped no copy during the capture; ``most_waiting`` is the largest number of
    messages that waited to be captured, and were counted later than published.  ``unroutable``
    messages went to no queue, and are in no route; ``gathered`` ones are in merged routes.
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
        """The length of the capture."""
        return len(self.routes[0].per_second)

    @property
    def messages(self) -> int:
        """Messages that went to a queue."""
        return sum(self.tenths)

    def per_second(self) -> list[int]:
        """Return the messages of all routes in each second."""
        return [sum(counts) for counts in zip(*(r.per_second for r in self.routes), strict=True)]

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if any(len(route.per_second) != self.seconds for route in self.routes):
            raise ValueError("routes have differently many seconds")
        if len(self.tenths) != TENTHS * self.seconds:
            raise ValueError(f"tenths has {len(self.tenths)} counts for {self.seconds} s")
        starts = range(0, len(self.tenths), TENTHS)
        if [sum(self.tenths[n : n + TENTHS]) for n in starts] != self.per_second():
            raise ValueError("tenths and routes count differently many messages")
        return self


def most_of_a_process(routes: int, processes: int) -> int:
    """Return the most routes of a process, which is the size of its block of route numbers."""
    return ceil(routes / processes)


def numbers(routes: int, processes: int) -> list[int]:
    """Return the global number of each route; routes are dealt to processes in turn."""
    block = most_of_a_process(routes, processes)
    return [index % processes * block + index // processes for index in range(routes)]


def parsed(content: bytes, name: str) -> Profile:
    """Parse the content of a file of this name; raises ``PlanError`` if it is not a profile."""
    try:
        return Profile.model_validate_json(content)
    except ValidationError as error:
        problem = raw.first_problem(error)
        raise PlanError(f"{name}: no traffic profile of version 1: {problem}") from None


def content(profile: Profile) -> bytes:
    """Return the profile as the content of a file."""
    text = profile.model_dump_json(exclude_none=True)
    return (text.replace('{"queues"', '\n{"queues"') + "\n").encode()


def write(profile: Profile, file: Path) -> None:
    """Write the file atomically.

    Raises ``PlanError`` if it cannot be written, or is too large for a plan.
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
