"""NATS as a system under test: one private server, or three as a cluster; JetStream is on."""

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, HostFolder
from mqperf.hosts.software import ALONE
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.private import PrivateDeployment, ServerLauncher, Servers
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import SystemSettings, VersionAsked, checked
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, System
from mqperf.lab.tool import Tool
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_nats.lab.launcher import PROGRAM
from mqperf_nats.plan.parameters import GENERATOR
from mqperf_nats.plan.queues import CORE, REPLICATED, STREAMS
from mqperf_numbered.lab.environment import variables
from mqperf_software.lab.product import Product

NAME = "nats"
USER = "mqperf"
SINGLE, CLUSTER = "single", "any-node"
LABELS = {SINGLE: (ONLY_BROKER,), CLUSTER: ("Broker 1", "Broker 2", "Broker 3")}
CONFIG = "nats.conf"
NO_REPLICAS = "one node has no replicas: plan topologies: [any-node]"
LIMIT_S = 60
MANAGEMENT = f"{PROGRAM.name}.management"


@dataclass(frozen=True, slots=True)
class Nats(PrivateDeployment):
    """The deployment: its nodes, and the folder of the first."""

    nodes_of_all: Endpoint
    first: HostFolder

    def provision(self, case: Case, _run_id: str) -> Access:
        """Return the access to the nodes; runs are isolated by their subjects."""
        return Access.by(TOPOLOGIES[case.topology], self.nodes_of_all)

    def clean_up(self, _run_id: str, queues: Sequence[str]) -> None:
        """Remove remaining streams of the run: those of subscribers that were killed."""
        if queues:
            self.manage("removes no streams", LIMIT_S, "remove", *queues)

    def manage(self, failure: str, limit_s: float, *action: str) -> None:
        """Run the management program; raises ``SystemFault`` with its error."""
        host = self.first.host
        program = PROGRAM.ensure(NAME, host)
        servers = ",".join(self.nodes_of_all.addresses)
        argv = [program.python, *ALONE, "-m", MANAGEMENT, str(self.first.folder / CONFIG), servers]
        result = host.run([*argv, *action], env=variables(program), timeout_s=limit_s)
        if result.returncode:
            raise SystemFault(f"NATS {failure}: {result.stderr.strip()[-500:]}")


def installed(host: Host) -> str:
    """Return the installed version; raises ``SystemFault`` with the command that installs it."""
    return _version(host, (PRODUCT.tool.on(PRODUCT.title, host), "--version"))


def _version(host: Host, command: Sequence[str]) -> str:
    result = host.run(command, timeout_s=LIMIT_S)
    return result.stdout.partition(": v")[2].strip() or "unknown"


PRODUCT = Product(
    "NATS",
    Tool("nats-server", "nats-server", packages=("nats-server",), services=("nats-server",)),
    installed,
)


class NatsSettings(SystemSettings):
    """Settings: ``version``, in quotes, instead of the installed one; ``2.10`` for any 2.10.x."""

    version: VersionAsked | None = None


check = partial(checked, NAME, NatsSettings)


def queue_kind(asked: str, settings: Mapping[str, JsonValue], host: Host) -> str:
    """Return the requested kind of queue; raises ``SystemFault`` if NATS is not available."""
    PRODUCT.lacks(host, check(settings).version)
    return asked


def configuration(
    places: Sequence[HostFolder], ports: Sequence[int], index: int, password: str
) -> str:
    """Return a node's configuration; ``ports`` are all nodes' for clients, then those for peers."""
    place, login = places[index], {"user": USER, "password": password}
    config = {
        "server_name": f"node-{index + 1}",
        "listen": f"{place.host.address}:{ports[index]}",
        "max_payload": 16_000_000,  # above the limit of plans
        "authorization": login,
        "jetstream": {"store_dir": str(place.folder / "data")},
    }
    if len(places) > 1:
        peer_ports = zip(places, ports[len(places) :], strict=True)
        peers = [f"{peer.host.address}:{port}" for peer, port in peer_ports]
        routes = [f"nats://{USER}:{password}@{peer}" for peer in peers]
        cluster = {"name": "mqperf", "listen": peers[index], "no_advertise": True}
        config["cluster"] = {**cluster, "authorization": login, "routes": routes}
    return json.dumps(config, indent=1)


def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> AbstractContextManager[Deployment]:
    """Run one server for the topology ``single``, else three, with a random password.

    They are ready when each of them can create a stream with a replica on every one.
    """
    values = {**settings}
    labels = LABELS[str(values.pop("topology", CLUSTER))]
    checked_settings, size = check(values), len(labels)
    password = secrets.token_hex(16)

    def command(place: HostFolder, *arguments: str) -> tuple[str, ...]:
        return PRODUCT.command(place.host, checked_settings.version, *arguments, shown=place.folder)

    version = _version(host_folders[0].host, command(host_folders[0], "--version"))

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]) -> Nats:
        homes = [place.within(f"broker{number}") for number, place in enumerate(places, 1)]
        nodes = [
            Server(
                label=label,
                name=f"{home.host.address}:{ports[index]}",
                host_folder=home,
                argv=command(home, "--config", CONFIG),
                env={},
                ready=("Server is ready",),
                taken=("address already in use",),
                files={CONFIG: configuration(homes, ports, index, password)},
            )
            for index, (label, home) in enumerate(zip(labels, homes, strict=True))
        ]
        servers.start(nodes, checked_settings.start_timeout_s)
        config = redact(nodes[0].files[CONFIG])
        about: dict[str, JsonValue] = {"product": "NATS", "version": version, "config": config}
        endpoint = Endpoint(NAME, tuple(node.name for node in nodes), USER, password)
        nats = Nats(servers, about, endpoint, homes[0])
        wait_s = checked_settings.start_timeout_s
        nats.manage("is not ready", wait_s + LIMIT_S, "await", f"{wait_s:g}")
        return nats

    def redact(text: str) -> str:
        return text.replace(password, "***")

    return ServerLauncher("NATS", host_folders, size, redact).launched(2 * size, launch)


SYSTEM = System(
    name=NAME,
    title="NATS",
    topologies=(SINGLE, CLUSTER),
    queues=(CORE.name, *STREAMS),
    drivers={GENERATOR.name: NAME},
    installed=installed,
    queue_kind=queue_kind,
    check=check,
    start=start,
    tools=(PRODUCT.tool,),
    getting=lambda settings, hosts: PRODUCT.getting(hosts, check(settings).version),
    own_deployment=lambda topology: topology == SINGLE,
    incompatible_queues={(SINGLE, kind): NO_REPLICAS for kind in REPLICATED},
    labels=lambda topology, _settings: LABELS[topology],
)
