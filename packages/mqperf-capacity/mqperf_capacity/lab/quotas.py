"""Hosts on which processes started for a role have a quota of CPU and memory.

A program on each host makes the folder of all control groups, and has it removed, however it ends.
Processes enter their group before they are executed, so that a broker which asks the kernel for its
CPU gets the quota: Erlang starts as many schedulers.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from mqperf.base.errors import HostError
from mqperf.base.one_line import one_line
from mqperf.hosts import Host, Hosts, Process
from mqperf.hosts.roles import ROLES
from mqperf.hosts.software import ALONE, path_of
from mqperf.hosts.wrapped import Start, WrappedHost
from mqperf.lab.systems.settings import HostSettings
from mqperf.plan.link import Role
from mqperf_capacity.onhost import within
from mqperf_capacity.onhost.cgroups import GroupRoot, settings
from mqperf_capacity.plan.quotas import Quotas

KEEPER = "mqperf_capacity.onhost.keeper"
WITHIN = Path(within.__file__)
LABEL = "quota keeper"
LIMIT_S = 15.0
END_GRACE_S = 30.0
"""Time that a keeper gets to remove its folder, whose processes have ended by then."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The control groups of a host: where they are, and the quota of each role."""

    places: tuple[GroupRoot, ...]
    quotas: Quotas

    def entered(self, group: str, role: Role) -> str:
        """The argument of ``within``: for each hierarchy the folder of the group, and its files."""
        resources = self.quotas.of(role)
        files: dict[str, dict[str, str]] = {}
        for root in self.places:
            contents = files.setdefault(str(root.folder / group), {})
            contents |= settings(root, resources)
        return json.dumps([[folder, texts] for folder, texts in files.items() if texts])

    def cpu(self) -> GroupRoot | None:
        """Where the groups of CPU are; None without a quota of CPU."""
        return next((root for root in self.places if root.controller == "cpu"), None)


@dataclass(frozen=True, slots=True)
class Limited(WrappedHost):
    """A host that starts processes in the control group of one role.

    Without a role it starts them as the host itself does.
    """

    groups: Groups
    role: Role | None = None

    @override
    def changed(self, label: str, argv: Sequence[str], env: Mapping[str, str] | None) -> Start:
        """The command that enters the group first; each node of the brokers has its own group."""
        if self.role is None or not self.groups.quotas.of(self.role):
            return argv, env
        entry = self.groups.entered(group_of(self.role, label), self.role)
        script = str(self.host.copied(WITHIN))
        return [self.host.python, "-I", "-S", script, entry, *argv], env

    def facts(self) -> dict[str, Any]:
        """The facts of the host, and its quotas."""
        version = max(root.version for root in self.groups.places)
        given = self.groups.quotas.model_dump(exclude_none=True)
        return {**self.host.facts(), "quotas": {"cgroup_version": version, **given}}


def group_of(role: str, label: str) -> str:
    """The name of a group: that of a node, or of all clients, or all servers."""
    return f"broker {label}".replace("/", "-") if role == "broker" else role


@contextmanager
def applied(quotas: Quotas, hosts: Hosts) -> Iterator[Hosts]:
    """Yield the hosts with these quotas; raises ``HostError`` where they cannot be applied."""
    resources = {name for role in ROLES for name in quotas.of(role)}
    if not resources:
        yield hosts
        return
    with ExitStack() as stack:
        groups = {
            host.name: Groups(stack.enter_context(_group_roots(host, resources)), quotas)
            for host in hosts.every
        }

        yield hosts.wrapped(lambda role, host: Limited(host, groups[host.name], role))


@contextmanager
def _group_roots(host: Host, resources: set[str]) -> Iterator[tuple[GroupRoot, ...]]:
    """Yield where groups for these resources can be made on a host, while the context lasts."""
    path = ":".join(map(str, path_of(KEEPER, host)))
    with host.scratch("quotas") as folder:
        log = folder / "keeper.log"
        argv = [host.python, *ALONE, "-m", KEEPER, json.dumps(sorted(resources))]
        env = {"PYTHONPATH": path, "PATH": host.path}
        process = host.start(LABEL, argv, env=env, log=log)
        try:
            yield tuple(_folders_made(host, process, log))
        finally:
            process.stop(END_GRACE_S)


def _folders_made(host: Host, process: Process, log: Path) -> Iterator[GroupRoot]:
    """The folders that the keeper has made; raises ``HostError`` with the reason if it fails."""
    deadline = time.monotonic() + LIMIT_S
    while not (text := host.read(log).decode(errors="replace")).endswith("}\n"):
        if not process.alive or time.monotonic() > deadline:
            raise HostError(_refused(host, one_line(text) or "the kernel does not say why"))
        time.sleep(0.01)
    answer = json.loads(text.splitlines()[-1])
    if "error" in answer:
        raise HostError(_refused(host, answer["error"]))
    for controller, version, folder in answer["ready"]:
        yield GroupRoot(controller, version, Path(folder))


def _refused(host: Host, reason: str) -> str:
    return (
        f"{host.name}: no quotas can be given: {reason}; leave the settings *_cores and"
        " *_memory_bytes out of the plan, or take a machine with control groups"
    )


SETTINGS = HostSettings("quotas", Quotas, applied)
