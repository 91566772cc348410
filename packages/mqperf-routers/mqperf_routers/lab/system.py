"""Routers of AMQP 1.0 as systems under test: Apache Qpid Dispatch, and its fork by Skupper.

They are private, and form a network; client and server connect to its ends.
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
    """The deployment; ``clients`` has, by router, the endpoint where its clients connect."""

    network: Network
    clients: Mapping[str, Endpoint]

    @property
    @override
    def nodes(self) -> tuple[Node, ...]:
        """The routers and brokers, in the order of the network."""
        nodes = {node.label: node for node in self.servers.nodes}
        return tuple(nodes[node.id] for node in self.network.nodes)

    def provision(self, case: Case, _run_id: str) -> Access:
        """Return the routers for clients and servers; runs use addresses of their own."""
        topology, nodes = TOPOLOGIES[case.topology], self.network.nodes
        return Access(
            client=self.clients[nodes[topology.client].id],
            server=self.clients[nodes[topology.server].id],
        )

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Do nothing: routers remove addresses that nobody uses."""


def router_program(host: Host, configured: str | None = None) -> str:
    """Find the program on a host; raise ``SystemFault``, with what to do, where there is none."""
    names = ROUTER.programs if configured is None else (configured,)
    found = host.which(names)
    program = next(filter(None, (found[name] for name in names)), None)
    if program is not None:
        return program
    if configured is None:
        raise ROUTER.missing("an AMQP router", host)
    raise SystemFault(
        f"{NAME}: program: there is no {configured} on {host.name}: give the path of qdrouterd or"
        " skrouterd there"
    )


def router_version(host: Host, program: str) -> str:
    """Return the version that a router prints."""
    result = host.run([program, "--version"], timeout_s=VERSION_LIMIT_S)
    match = re.search(r"\d[\w.+-]*", result.stdout)
    if result.returncode or match is None:
        last = " ".join((result.stderr or result.stdout).split())[-300:]
        raise SystemFault(f"{program} on {host.name} does not report its version: {last}")
    return match[0]


def installed(host: Host) -> str:
    """Return the product and version that are installed on a host."""
    program = router_program(host)
    return f"{_product(program)} {router_version(host, program)}"


def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> AbstractContextManager[Deployment]:
    """Run the network of the requested topology; return when each router knows every other."""
    remaining = {**settings}
    topology = str(remaining.pop("topology"))
    checked = check(remaining)
    network = network_of(topology, remaining)
    programs = {
        host_folder.host.name: router_program(host_folder.host, checked.program)
        for host_folder in host_folders
    }
    about = _about(programs, host_folders)

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]) -> Routers:
        reached = addresses(network, places, ports, tls=checked.tls)
        folders = {
            node.id: host_folder.within(node.id.lower())
            for node, host_folder in zip(network.nodes, places, strict=True)
        }
        brokers = [
            broker(node.id, folders[node.id], reached[node.id, CLIENTS][1])
            for node in network.brokers
        ]
        servers.start(brokers, checked.start_timeout_s)
        certificates = _certificates(checked, places)
        options = checked.worker_threads, checked.link_capacity, certificates
        routers = [
            Router(network, node, folders[node.id], reached, *options) for node in network.routers
        ]
        for router in routers:
            router.write_certificates()
        started = [router.server(programs[router.host_folder.host.name]) for router in routers]
        servers.start(started, checked.start_timeout_s)
        await_network(network, servers, started, checked.start_timeout_s)
        facts = {**about, "config": routers[0].configuration(), "tls": checked.tls}
        return Routers(servers, facts, network, _client_endpoints(network, reached, certificates))

    launcher = ServerLauncher("Router", host_folders, len(network.nodes))
    return launcher.launched(ports_needed(network, tls=checked.tls), launch)


def _certificates(
    settings: RouterSettings, host_folders: Sequence[HostFolder]
) -> Certificates | None:
    """Issue certificates for the routers' addresses, if clients are to connect encrypted."""
    if not settings.tls:
        return None
    return issued(
        host_folders[0].within("certificates"),
        [host_folder.host.address for host_folder in host_folders],
    )


def _client_endpoints(
    network: Network, reached: Addresses, certificates: Certificates | None
) -> dict[str, Endpoint]:
    """Return, by router, the endpoint of its clients, encrypted if there are certificates."""
    role, authority = (CLIENTS, "") if certificates is None else (ENCRYPTED, certificates.authority)
    places = {router.id: reached[router.id, role] for router in network.routers}
    return {
        router: Endpoint("amqp-1.0", (f"{host}:{port}",), authority=authority)
        for router, (host, port) in places.items()
    }


def _about(programs: Mapping[str, str], host_folders: Sequence[HostFolder]) -> dict[str, JsonValue]:
    """Return product, version and kernel; raise ``SystemFault`` where hosts' versions differ."""
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


def queue_kind(kind: str, settings: Mapping[str, JsonValue], host: Host) -> str:
    """Return the kind unchanged: routers have no queues; raise ``SystemFault`` without a router."""
    router_program(host, check(settings).program)
    return kind


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
