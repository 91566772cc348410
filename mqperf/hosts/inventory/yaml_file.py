"""An inventory in YAML, read without Ansible; every error message has a line number."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from mqperf.base.document import DocumentError, compose
from mqperf.base.errors import HostError
from mqperf.hosts.inventory.listing import Listing, Value, members

ALL = "all"
GROUP_KEYS = ("hosts", "vars", "children")
MAX_DEPTH, MAX_GROUPS = 20, 1000
RANGE = re.compile(r"\[\w+:\w+")


@dataclass
class _Group:
    hosts: dict[str, dict[str, Value]] = field(default_factory=dict)
    variables: dict[str, Value] = field(default_factory=dict)
    children: list[str] = field(default_factory=list)


def read(text: str, path: Path) -> Listing:
    """Return the content of a YAML inventory; raises ``HostError`` for invalid YAML."""
    try:
        root = compose(text)
    except DocumentError as error:
        raise HostError(f"{path}:{error.line}: {error}") from None
    if not isinstance(root, yaml.MappingNode):
        raise HostError(f"{path}:1: expected groups of hosts, as Ansible has them in YAML")
    reader = _Reader(path)
    for name, node, _ in reader.entries(root):
        reader.group(name, node)
    return reader.listing()


class _Reader:
    """Collects groups, and merges the variables that their hosts inherit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._groups: dict[str, _Group] = {ALL: _Group()}
        self._listing = Listing(str(path))
        self._group_count = 0

    def group(self, name: str, node: yaml.Node, depth: int = 0) -> None:
        """Add a group, its hosts and its children; raises ``HostError`` beyond the limits above."""
        self._group_count += 1
        if depth > MAX_DEPTH or self._group_count > MAX_GROUPS:
            where = f"{self._path}:{node.start_mark.line + 1}"
            raise HostError(f"{where}: groups within groups without end: write aliases out (&, *)")
        group = self._groups.setdefault(name, _Group())
        for key, value, line in self.entries(node):
            if key == "hosts":
                for host, host_node, host_line in self.entries(value):
                    self._host(name, host, host_node, host_line)
            elif key == "vars":
                group.variables |= self._variables(value)
            elif key == "children":
                for child, child_node, _ in self.entries(value):
                    group.children.append(child)
                    self.group(child, child_node, depth + 1)
            else:
                self._report(
                    line,
                    f"group {name!r} has an unknown key {key!r}; known: {', '.join(GROUP_KEYS)}",
                )

    def _host(self, group: str, host: str, node: yaml.Node, line: int) -> None:
        if RANGE.search(host):
            self._report(line, f"write the hosts of the range {host!r} out")
        variables = self._variables(node)
        for other in self._groups.values():
            for name, former in other.hosts.get(host, {}).items():
                changed = name in variables and variables[name].text != former.text
                if changed and name.startswith("ansible_"):
                    self._report(
                        line,
                        f"two hosts are called {host!r}: {name} is another than in"
                        f" {former.where}; rename one",
                    )
        self._groups[group].hosts[host] = variables

    def _variables(self, node: yaml.Node) -> dict[str, Value]:
        return {
            # encrypted values (!vault) cannot be read, like templates
            name: Value(
                "{{ encrypted }}" if value.tag.startswith("!") else value.value,
                f"{self._path}:{line}",
            )
            for name, value, line in self.entries(node)
            if isinstance(value, yaml.ScalarNode)
        }

    def entries(self, node: yaml.Node) -> Iterator[tuple[str, yaml.Node, int]]:
        """Yield the keys of a mapping with their values and lines; none for an empty value."""
        line = node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode) and node.value in {"", "~", "null"}:
            return
        if not isinstance(node, yaml.MappingNode):
            self._report(line, "expected a mapping: names, each with a colon")
            return
        lines: dict[str, int] = {}
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name == "<<" or not isinstance(key, yaml.ScalarNode):
                self._report(line, "write merged keys out")
            elif name in lines:
                self._report(line, f"{name!r} stands here and in line {lines[name]}: rename one")
            else:
                lines[name] = line
                yield name, value, line

    def listing(self) -> Listing:
        """Return the hosts with inherited variables: nearer groups win, then the host's own."""
        listing = self._listing
        groups = {name: (group.hosts, group.children) for name, group in self._groups.items()}
        listing.groups = {name: members(name, groups) for name in groups}
        depths = {name: 0 if name == ALL else 1 for name in self._groups}
        for _ in self._groups:  # there are at most so many levels
            for name, group in self._groups.items():
                for child in group.children:
                    depths[child] = max(depths[child], min(depths[name], len(depths)) + 1)
        order = sorted(self._groups, key=lambda name: (depths[name], name))
        for host in dict.fromkeys(host for group in self._groups.values() for host in group.hosts):
            inherited: dict[str, Value] = {}
            for name in order:
                if name == ALL or host in listing.groups[name]:
                    inherited |= self._groups[name].variables
            for group in self._groups.values():
                inherited |= group.hosts.get(host, {})
            listing.hosts[host] = inherited
        return listing

    def _report(self, line: int, text: str) -> None:
        self._listing.problems.append(f"{self._path}:{line}: {text}")
