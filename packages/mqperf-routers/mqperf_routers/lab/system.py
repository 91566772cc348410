"""Routers of AMQP 1.0 as systems under test: Apache Qpid Dispatch, and its fork by Skupper.

They are private, and form a network; clients are connected to its ends.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue
from typing_extensions import override

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, HostFolder
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.certificates import Certificates, issued
from mqperf.lab.systems.private import PrivateDeployment, ServerLauncher, Servers
from mqperf.lab.systems.system import Deployment, Node, System
from mqperf.lab.tool import Tool
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_routers.lab.configuration import CLIENTS, Addresses
from mqperf_routers.lab.readiness import await_network
from mqperf_routers.lab.router import ENCRYPTED, Router, addresses, ports_needed
from mqperf_routers.lab.settings import (
    NAME,
    RouterSettings,
    broker,
    check,
    incompatible_settings,
    network_of,
)
from mqperf_routers.plan.forms import FORMS
from mqperf_routers.plan.network import Network
from mqperf_routers.plan.topologies import FAMILY

PRODUCTS = {"qdrouterd": "Qpid Dispatch", "skrouterd": "Skupper Router"}
ROUTER = Tool(
    "an AMQP router",
    "qdrouterd",
    packages=(),
    instead=("skrouterd",),
    by_hand="Debian and Ubuntu have no package; build Apache Qpid Dispatch or Skupper Router and"
    " put qdrouterd or skrouterd on the PATH, or name the program in the plan, in settings:"
    " {program: PATH}",
)
VERSION_LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Routers(PrivateDeployment):
    """The deployment; ``clients`` are where clients of each router connect."""

    network: Network
    clients: Mapping[str, Endpoint]

    @property
    @override
    def nodes(self) -> tuple[Node, ...]:
        """Every router and broker, in the order of the network."""
        nodes = {node.label: node for node in self.servers.nodes}
        return tuple(nodes[node.id] for node in self.network.nodes)

    def provision(self, case: Case, _run_id: str) -> Access:
        """Give the routers that clients and servers connect to; runs keep apart by addresses."""
        topology, nodes = TOPOLOGIES[case.topology], self.network.nodes
        return Access(
            client=self.clients[nodes[topology.client].id],
            server=self.clients[nodes[topology.server].id],
        )

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Leave the run's addresses to the routers, which forget those that nobody uses."""


def router_program(host: Host, wanted: str | None = None) -> str:
    """Find the program on a host; raises ``SystemFault`` with what to do where there is none."""
    names = ROUTER.programs if wanted is None else (wanted,)
    there = host.which(names)
    program = next(filter(None, (there[name] for name in names)), None)
    if program is not None:
        return program
    if wanted is None:
        raise ROUTER.missing("an AMQP router", host)
    raise SystemFault(
        f"{NAME}: program: there is no {wanted} on {host.name}: give the path of qdrouterd or"
        " skrouterd there"
    )


def router_version(host: Host, program: str) -> str:
    """The version of a router, as it tells it."""
    done = host.run([program, "--version"], timeout_s=VERSION_LIMIT_S)
    match = re.search(r"\d[\w.+-]*", done.stdout)
    if done.returncode or match is None:
        last = " ".join((done.stderr or done.stdout).split())[-300:]
        raise SystemFault(f"{program} on {host.name} does not tell its version: {last}")
    return match[0]


def installed(host: Host) -> str:
    """The product and version that are installed on a host."""
    program = router_program(host)
    return f"{_product(program)} {router_version(host, program)}"


def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> AbstractContextManager[Deployment]:
    """Run the network of the topology that is asked for, until each router knows every other."""
    remaining = {**settings}
    topology = str(remaining.pop("topology"))
    wanted = check(remaining)
    routed = network_of(topology, remaining)
    programs = {
        host_folder.host.name: router_program(host_folder.host, wanted.program)
        for host_folder in host_folders
    }
    about = _about(programs, host_folders)

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]) -> Routers:
        reached = addresses(routed, places, ports, tls=wanted.tls)
        folders = {
            node.id: host_folder.within(node.id.lower())
            for node, host_folder in zip(routed.nodes, places, strict=True)
        }
        brokers = [
            broker(node.id, folders[node.id], reached[node.id, CLIENTS][1])
            for node in routed.brokers
        ]
        servers.start(brokers, wanted.start_timeout_s)
        certificates = _certificates(wanted, places)
        options = wanted.worker_threads, wanted.link_capacity, certificates
        routers = [
            Router(routed, node, folders[node.id], reached, *options) for node in routed.routers
        ]
        for router in routers:
            router.write_certificates()
        started = [router.server(programs[router.host_folder.host.name]) for router in routers]
        servers.start(started, wanted.start_timeout_s)
        await_network(routed, servers, started, wanted.start_timeout_s)
        facts = {**about, "config": routers[0].configuration(), "tls": wanted.tls}
        return Routers(servers, facts, routed, _for_clients(routed, reached, certificates))

    launcher = ServerLauncher("Router", host_folders, len(routed.nodes))
    return launcher.launched(ports_needed(routed, tls=wanted.tls), launch)


def _certificates(
    wanted: RouterSettings, host_folders: Sequence[HostFolder]
) -> Certificates | None:
    """New ones for the routers' addresses, if clients are to connect encrypted."""
    if not wanted.tls:
        return None
    return issued(
        host_folders[0].within("certificates"),
        [host_folder.host.address for host_folder in host_folders],
    )


def _for_clients(
    network: Network, reached: Addresses, certificates: Certificates | None
) -> dict[str, Endpoint]:
    """Where clients of each router connect, encrypted if there are certificates."""
    role, authority = (CLIENTS, "") if certificates is None else (ENCRYPTED, certificates.authority)
    places = {router.id: reached[router.id, role] for router in network.routers}
    return {
        router: Endpoint("amqp-1.0", (f"{host}:{port}",), authority=authority)
        for router, (host, port) in places.items()
    }


def _about(programs: Mapping[str, str], host_folders: Sequence[HostFolder]) -> dict[str, JsonValue]:
    """What all hosts have; raises ``SystemFault`` where they differ."""
    versions = {
        host_folder.host.name: router_version(host_folder.host, programs[host_folder.host.name])
        for host_folder in host_folders
    }
    if len(set(versions.values())) > 1:
        differing = ", ".join(f"{name} has {version}" for name, version in versions.items())
        raise SystemFault(
            f"the hosts of routers have different versions: {differing}; use the same"
        )
    host = host_folders[0].host
    return {
        "product": _product(programs[host.name]),
        "version": versions[host.name],
        "runtime": str(host.facts()["kernel"]),
    }


def _product(program: str) -> str:
    return PRODUCTS.get(Path(program).name, Path(program).name)


def queue_kind(asked: str, settings: Mapping[str, JsonValue], host: Host) -> str:
    """Routers have none; raises ``SystemFault`` where there is no router."""
    router_program(host, check(settings).program)
    return asked


SYSTEM = System(
    name=NAME,
    title="Qpid Dispatch",
    topologies=tuple(topology.name for topology in FAMILY.listed),
    queues=("routed",),
    drivers={"amqp-1.0": "amqp-1.0"},
    installed=installed,
    check=check,
    start=start,
    queue_kind=queue_kind,
    tools=(ROUTER,),
    own_deployment=lambda _topology: True,
    telling={},
    forms=tuple(FORMS),
    incompatible_settings=incompatible_settings,
    labels=lambda topology, settings: tuple(
        node.id for node in network_of(topology, settings).nodes
    ),
    encrypts=lambda settings: check(settings).tls,
)
