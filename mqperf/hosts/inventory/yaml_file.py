"""An inventory in YAML, read without Ansible: every complaint has its line."""

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
    """What the text of the file says; raises ``HostError`` when it is no YAML."""
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
    """Takes groups in, and puts together what their hosts inherit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._groups: dict[str, _Group] = {ALL: _Group()}
        self._listing = Listing(str(path))
        self._taken = 0

    def group(self, name: str, node: yaml.Node, depth: int = 0) -> None:
        """Take a group, its hosts and its children.  Raises ``HostError`` where that has no end."""
        self._taken += 1
        if depth > MAX_DEPTH or self._taken > MAX_GROUPS:
            where = f"{self._path}:{node.start_mark.line + 1}"
            raise HostError(f"{where}: groups within groups without end: write aliases out (&, *)")
        group = self._groups.setdefault(name, _Group())
        for key, value, line in self.entries(node):
            if key == "hosts":
                for host, more, at in self.entries(value):
                    self._host(name, host, more, at)
            elif key == "vars":
                group.variables |= self._variables(value)
            elif key == "children":
                for child, more, _ in self.entries(value):
                    group.children.append(child)
                    self.group(child, more, depth + 1)
            else:
                self._refuse(
                    line,
                    f"group {name!r} has an unknown key {key!r}; known: {', '.join(GROUP_KEYS)}",
                )

    def _host(self, group: str, host: str, node: yaml.Node, line: int) -> None:
        if RANGE.search(host):
            self._refuse(line, f"write the hosts of the range {host!r} out")
        variables = self._variables(node)
        for other in self._groups.values():
            for name, before in other.hosts.get(host, {}).items():
                changed = name in variables and variables[name].text != before.text
                if changed and name.startswith("ansible_"):
                    self._refuse(
                        line,
                        f"two hosts are called {host!r}: {name} is another than in"
                        f" {before.where}; rename one",
                    )
        self._groups[group].hosts[host] = variables

    def _variables(self, node: yaml.Node) -> dict[str, Value]:
        return {
            # what is encrypted (!vault) is as unreadable here as a template
            name: Value(
                "{{ encrypted }}" if value.tag.startswith("!") else value.value,
                f"{self._path}:{line}",
            )
            for name, value, line in self.entries(node)
            if isinstance(value, yaml.ScalarNode)
        }

    def entries(self, node: yaml.Node) -> Iterator[tuple[str, yaml.Node, int]]:
        """Keys of a mapping with their values and lines; nothing of an empty value."""
        line = node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode) and node.value in {"", "~", "null"}:
            return
        if not isinstance(node, yaml.MappingNode):
            self._refuse(line, "expected a mapping: names, each with a colon")
            return
        lines: dict[str, int] = {}
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name == "<<" or not isinstance(key, yaml.ScalarNode):
                self._refuse(line, "write merged keys out")
            elif name in lines:
                self._refuse(line, f"{name!r} stands here and in line {lines[name]}: rename one")
            else:
                lines[name] = line
                yield name, value, line

    def listing(self) -> Listing:
        """Hosts with all that they inherit: nearer groups win, and the hosts' own over all."""
        listing = self._listing
        groups = {name: (group.hosts, group.children) for name, group in self._groups.items()}
        listing.groups = {name: members(name, groups) for name in groups}
        depths = {name: 0 if name == ALL else 1 for name in self._groups}
        for _ in self._groups:  # so many levels at most
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

    def _refuse(self, line: int, text: str) -> None:
        self._listing.problems.append(f"{self._path}:{line}: {text}")
