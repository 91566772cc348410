"""NATS as a system under test: one private server, or three as a cluster; JetStream is on."""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, HostFolder
from mqperf.hosts.software import ALONE
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.private import OfServers, Servers, Site
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import SystemSettings, checked
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, System
from mqperf.lab.tool import Tool
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_nats.lab.launcher import PROGRAM
from mqperf_nats.plan.parameters import GENERATOR
from mqperf_nats.plan.queues import CORE, REPLICATED, STREAMS
from mqperf_numbered.lab.environment import variables

NAME = "nats"
USER = "mqperf"
SINGLE, CLUSTER = "single", "any-node"
LABELS = {SINGLE: (ONLY_BROKER,), CLUSTER: ("Broker 1", "Broker 2", "Broker 3")}
TOOL = Tool("nats-server", "nats-server", packages=("nats-server",), services=("nats-server",))
CONFIG = "nats.conf"
MOST_BYTES = 16_000_000
"""Of a message: more than a plan may ask for."""

LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Nats(OfServers):
    """The deployment: its nodes, and where the streams of a run are removed."""

    place: HostFolder
    nodes_of_all: Endpoint
    about: Mapping[str, JsonValue] = field(default_factory=dict)

    def provision(self, case: Case, _run_id: str) -> Access:
        """Give the nodes; runs keep apart by their subjects."""
        topology, every = TOPOLOGIES[case.topology], self.nodes_of_all
        client, server = (
            Endpoint(
                every.protocol,
                tuple(every.addresses[at] for at in topology.order(first, len(every.addresses))),
                every.user,
                every.password,
            )
            for first in (topology.client, topology.server)
        )
        return Access(client, server)

    def clean_up(self, _run_id: str, queues: Sequence[str]) -> None:
        """Remove the run's streams, by a program on the host of the first node."""
        if not queues:
            return
        host, file = self.place.host, self.place.folder / "removal"
        every = self.nodes_of_all
        broker = {"addresses": every.addresses, "user": every.user, "password": every.password}
        told = {"broker": {**broker, "vhost": ""}, "streams": [*queues]}
        host.write(file, json.dumps(told))
        tool = PROGRAM.ensure(NAME, host)
        argv = [tool.python, *ALONE, "-m", f"{PROGRAM.name}.removal", str(file)]
        done = host.run(argv, env=variables(tool), timeout_s=LIMIT_S)
        if done.returncode:
            raise SystemFault(f"NATS does not remove streams: {done.stderr.strip()[-500:]}")

    def facts(self) -> dict[str, JsonValue]:
        """What it is, its configuration, and the memory of every node."""
        return {**self.about, "nodes": [*self.servers.facts()]}


def version_on(host: Host) -> str:
    """The version on a host; raises ``SystemFault`` with the command that installs it."""
    answer = host.run([program_on(host), "--version"], timeout_s=LIMIT_S)
    version = re.search(r"v(\d\S*)", answer.stdout)
    return version[1] if version else "unknown"


def program_on(host: Host) -> str:
    """The server's program on a host."""
    program = host.which([TOOL.program])[TOOL.program]
    if program is None:
        raise TOOL.missing("NATS", host)
    return program


def check(settings: Mapping[str, JsonValue]) -> SystemSettings:
    """Check what a plan says about NATS."""
    return checked(NAME, SystemSettings, settings)


def configuration(
    places: Sequence[HostFolder], ports: Sequence[int], index: int, password: str
) -> str:
    """The configuration of a node: ``ports`` are first all nodes' for clients, then for others."""
    place, size = places[index], len(places)
    login = f"authorization {{ user: {USER}, password: {json.dumps(password)} }}"
    lines = [
        f"server_name: node-{index + 1}",
        f"listen: {json.dumps(f'{place.host.address}:{ports[index]}')}",
        f"max_payload: {MOST_BYTES}",
        login,
        f"jetstream {{ store_dir: {json.dumps(str(place.folder / 'data'))} }}",
    ]
    if size > 1:
        peers = [
            f"{other.host.address}:{port}" for other, port in zip(places, ports[size:], strict=True)
        ]
        routes = json.dumps([f"nats://{USER}:{password}@{peer}" for peer in peers])
        listen = json.dumps(peers[index])
        lines.append(f"cluster {{ name: mqperf, listen: {listen}, no_advertise: true")
        lines.append(f"  {login}\n  routes: {routes} }}")
    return "\n".join(lines) + "\n"


@contextmanager
def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> Iterator[Deployment]:
    """Run one server for the topology ``single``, and else three, with a password made at random.

    Three are up when they have agreed on who leads JetStream.
    """
    values = {**settings}
    labels = LABELS[str(values.pop("topology", CLUSTER))]
    wanted, size = check(values), len(labels)
    hosts = {each.host.name: each.host for each in host_folders[:size]}
    programs = {name: program_on(host) for name, host in hosts.items()}
    password, version = secrets.token_hex(16), version_on(host_folders[0].host)
    ready = "Server is ready" if size == 1 else "JetStream cluster new metadata leader"

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]) -> Nats:
        homes = [
            place.within(label.lower().replace(" ", ""))
            for label, place in zip(labels, places, strict=True)
        ]
        nodes = [
            Server(
                label=label,
                name=f"{home.host.address}:{ports[index]}",
                host_folder=home,
                argv=(programs[home.host.name], "--config", CONFIG),
                env={},
                ready=(ready, "Self is new JetStream cluster metadata leader"),
                taken=("address already in use",),
                files={CONFIG: configuration(homes, ports, index, password)},
            )
            for index, (label, home) in enumerate(zip(labels, homes, strict=True))
        ]
        servers.start(nodes, wanted.start_timeout_s)
        about: dict[str, JsonValue] = {
            "product": "NATS",
            "version": version,
            "config": redact(nodes[0].files[CONFIG]),
        }
        every = Endpoint(NAME, tuple(node.name for node in nodes), USER, password)
        return Nats(servers, places[0], every, about)

    def redact(text: str) -> str:
        return text.replace(password, "***")

    ports_of_each = 1 if size == 1 else 2
    site = Site("NATS", host_folders, size, redact)
    with site.launched(ports_of_each * size, launch) as deployment:
        yield deployment


SYSTEM = System(
    name=NAME,
    title="NATS",
    topologies=(SINGLE, CLUSTER),
    queues=(CORE.name, *STREAMS),
    drivers={GENERATOR.name: NAME},
    installed=version_on,
    check=check,
    start=start,
    tools=(TOOL,),
    own_deployment=lambda topology: topology == SINGLE,
    incompatible_queues={
        (SINGLE, kind): "one node has no replicas: plan topologies: [any-node]"
        for kind in REPLICATED
    },
    labels=lambda topology, _settings: LABELS[topology],
)
