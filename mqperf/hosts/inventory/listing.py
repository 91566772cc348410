"""What an inventory says, before it is known whether it makes sense."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Value:
    """The text of a variable, and where it stands: file and line, or only the file."""

    text: str
    where: str


@dataclass(slots=True)
class Listing:
    """Variables by host and hosts by group, both in the order of the file; and what is wrong.

    ``reader`` is what read it where somebody may not expect that.
    """

    source: str
    hosts: dict[str, Mapping[str, Value]] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    reader: str | None = None


Group = tuple[Iterable[str], Sequence[str]]
"""Names of a group's own hosts, and of its children."""


def members(name: str, groups: Mapping[str, Group]) -> tuple[str, ...]:
    """Hosts of a group and of all groups below it, each once, in the order of the file.

    A group that nobody describes has none; one that is its own descendant is no endless one.
    """
    gathered: dict[str, None] = {}
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        group = waiting.pop()
        if group in groups and group not in seen:
            seen.add(group)
            hosts, children = groups[group]
            gathered |= dict.fromkeys(hosts)
            waiting += reversed(children)
    return tuple(gathered)
