"""Hosts on which what is started for a role has a quota of CPU and memory.

A program on each host makes the folder of all control groups, and has it removed, however it ends.
Processes enter their group before they are executed, so that a broker which asks the kernel for its
CPU gets the quota told: Erlang starts as many schedulers.
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
"""Until a keeper has removed its folder: what is in it has ended by then."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The control groups of a host: where they are, and what each role may have."""

    places: tuple[GroupRoot, ...]
    quotas: Quotas

    def entered(self, group: str, role: Role) -> str:
        """What ``within`` is told: for each hierarchy the folder, and its files."""
        resources = self.quotas.of(role)
        files: dict[str, dict[str, str]] = {}
        for place in self.places:
            of_folder = files.setdefault(str(place.folder / group), {})
            of_folder |= settings(place, resources)
        return json.dumps([[folder, texts] for folder, texts in files.items() if texts])

    def cpu(self) -> GroupRoot | None:
        """Where those of CPU are."""
        return next((place for place in self.places if place.controller == "cpu"), None)


@dataclass(frozen=True, slots=True)
class Limited(WrappedHost):
    """A host, as one role sees it: what is started on it is in the role's group.

    Without a role it starts as the host itself.
    """

    groups: Groups
    role: Role | None = None

    @override
    def changed(self, label: str, argv: Sequence[str], env: Mapping[str, str] | None) -> Start:
        """A node of the brokers has a group of its own."""
        if self.role is None or not self.groups.quotas.of(self.role):
            return argv, env
        order = self.groups.entered(group_of(self.role, label), self.role)
        script = str(self.host.copied(WITHIN))
        return [self.host.python, "-I", "-S", script, order, *argv], env

    def facts(self) -> dict[str, Any]:
        """Those of the host, and its quotas."""
        version = max(place.version for place in self.groups.places)
        given = self.groups.quotas.model_dump(exclude_none=True)
        return {**self.host.facts(), "quotas": {"cgroup_version": version, **given}}


def group_of(role: str, label: str) -> str:
    """The name of a group: that of a node, or of all clients, or all servers."""
    return f"broker {label}".replace("/", "-") if role == "broker" else role


@contextmanager
def applied(quotas: Quotas, hosts: Hosts) -> Iterator[Hosts]:
    """The hosts with these quotas; raises ``HostError`` where there can be none."""
    resources = {name for role in ROLES for name in quotas.of(role)}
    if not resources:
        yield hosts
        return
    with ExitStack() as held:
        groups = {
            host.name: Groups(held.enter_context(_kept(host, resources)), quotas)
            for host in hosts.every
        }

        yield hosts.wrapped(lambda role, host: Limited(host, groups[host.name], role))


@contextmanager
def _kept(host: Host, resources: set[str]) -> Iterator[tuple[GroupRoot, ...]]:
    """Where groups for these resources are made on a host, as long as the context lasts."""
    path = ":".join(map(str, path_of(KEEPER, host)))
    with host.scratch("quotas") as folder:
        log = folder / "keeper.log"
        argv = [host.python, *ALONE, "-m", KEEPER, json.dumps(sorted(resources))]
        env = {"PYTHONPATH": path, "PATH": host.path}
        process = host.start(LABEL, argv, env=env, log=log)
        try:
            yield tuple(_ready(host, process, log))
        finally:
            process.stop(END_GRACE_S)


def _ready(host: Host, process: Process, log: Path) -> Iterator[GroupRoot]:
    """What the keeper has made; raises ``HostError`` with what was in its way."""
    limit = time.monotonic() + LIMIT_S
    while not (text := host.read(log).decode(errors="replace")).endswith("}\n"):
        if not process.alive or time.monotonic() > limit:
            raise HostError(_refused(host, one_line(text) or "the kernel does not say why"))
        time.sleep(0.01)
    told = json.loads(text.splitlines()[-1])
    if "error" in told:
        raise HostError(_refused(host, told["error"]))
    for controller, version, folder in told["ready"]:
        yield GroupRoot(controller, version, Path(folder))


def _refused(host: Host, reason: str) -> str:
    return (
        f"{host.name}: no quotas can be given: {reason}; leave the settings *_cores and"
        " *_memory_bytes out of the plan, or take a machine with control groups"
    )


SETTINGS = HostSettings("quotas", Quotas, applied)
