"""What an inventory says, before it is known whether it makes sense."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Value:
    """The text of a variable, and where it stands: file and line, or only the file."""

    text: str
    where: str


@dataclass(slots=True)
class Listing:
    """Variables by host and hosts by group, both in the order of the file; and what is wrong."""

    source: str
    hosts: dict[str, Mapping[str, Value]] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
