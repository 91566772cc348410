"""Versions of software, as numbers that compare."""

import re

Version = tuple[int, ...]
"""``(4, 0, 5)`` for 4.0.5."""


def parsed(version: str) -> Version:
    """The numbers of a version; those of ``4.1.0-beta.1`` are (4, 1, 0, 1)."""
    return tuple(map(int, re.findall(r"\d+", version)))


def is_of(version: str, asked: str) -> bool:
    """Whether a version is one that is asked for: 4.3.6 is of 4.3, and of 4."""
    return parsed(version)[: len(parsed(asked))] == parsed(asked)


def released(title: str, version: str) -> str:
    """Software with its version, which is not that of where it runs: ``RabbitMQ 4.0 in two Sites``.

    A title says so behind ``in``.
    """
    name, place, where = title.partition(" in ")
    return f"{name} {version}".strip() + place + where
