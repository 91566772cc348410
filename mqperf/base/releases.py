"""Versions of software, as comparable tuples of numbers."""

import re

Version = tuple[int, ...]
"""``(4, 0, 5)`` for 4.0.5."""


def parsed(version: str) -> Version:
    """Return the numbers of a version; those of ``4.1.0-beta.1`` are (4, 1, 0, 1)."""
    return tuple(map(int, re.findall(r"\d+", version)))


def is_of(version: str, asked: str) -> bool:
    """Whether a version belongs to the requested series: 4.3.6 is of 4.3, and of 4."""
    return parsed(version)[: len(parsed(asked))] == parsed(asked)


def released(title: str, version: str) -> str:
    """Insert the version into a title, before ``in`` if it has one: ``RabbitMQ 4.0 in two Sites``.

    What follows ``in`` is where the software runs.
    """
    name, separator, surroundings = title.partition(" in ")
    return f"{name} {version}".strip() + separator + surroundings
