"""The content of an inventory before validation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Value:
    """The text of a variable and its location: file and line, or only the file."""

    text: str
    where: str


@dataclass(slots=True)
class Listing:
    """Variables by host and hosts by group, both in the order of the file; and ``problems``.

    ``reader`` names the program that read it where that may be unexpected.
    """

    source: str
    hosts: dict[str, Mapping[str, Value]] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    reader: str | None = None


Group = tuple[Iterable[str], Sequence[str]]
"""Names of a group's own hosts, and of its child groups."""


def members(name: str, groups: Mapping[str, Group]) -> tuple[str, ...]:
    """Return the hosts of a group and of its descendants, each once, in the order of the file.

    An undefined group has no hosts; a group that is its own descendant is visited once.
    """
    hosts_found: dict[str, None] = {}
    visited: set[str] = set()
    pending = [name]
    while pending:
        group = pending.pop()
        if group in groups and group not in visited:
            visited.add(group)
            hosts, children = groups[group]
            hosts_found |= dict.fromkeys(hosts)
            pending += reversed(children)
    return tuple(hosts_found)
