"""Kafka as a system under test: one private broker, or three, each with all messages."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, HostFolder
from mqperf.hosts.software import ALONE, plain_variables
from mqperf.lab.load import LAUNCHERS, Access, Endpoint
from mqperf.lab.load.oslo.library import library
from mqperf.lab.systems.private import PrivateDeployment, ServerLauncher, Servers
from mqperf.lab.systems.settings import checked
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, System
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_java.lab.java import JAVA, JavaSettings
from mqperf_java.lab.servers import Peers
from mqperf_kafka.lab import brokers
from mqperf_kafka.lab.oslo import PROTOCOL, RELEASE
from mqperf_kafka.plan import TOPIC

NAME = "kafka"
SINGLE, CLUSTER = "single", "any-node"
LABELS = {SINGLE: (ONLY_BROKER,), CLUSTER: ("Broker 1", "Broker 2", "Broker 3")}
TOPICS = "mqperf_kafka.onhost.topics"
LIMIT_S = 120
NOTIFICATIONS_ONLY = "oslo.messaging's driver for Kafka has notifications alone: plan notify"


@dataclass(frozen=True, slots=True)
class Kafka(PrivateDeployment):
    """The deployment: brokers, and the host of the first."""

    host: Host
    addresses: tuple[str, ...]

    def provision(self, case: Case, run_id: str) -> Access:
        """Create the topics of a run, with a partition for each of their servers."""
        topics = LAUNCHERS[case.generator].queues(case, run_id)
        partitions = case.processes * case.hosts // len(topics)
        options = [f"--copies={len(self.addresses)}", f"--partitions={partitions}"]
        self._topics("make", run_id, [*options, *topics])
        query = urlencode({"consumer_group": run_id})
        endpoint = Endpoint(PROTOCOL, self.addresses, query=query)
        return Access.by(TOPOLOGIES[case.topology], endpoint)

    def clean_up(self, run_id: str, queues: Sequence[str]) -> None:
        """Remove the run's topics."""
        self._topics("remove", run_id, queues)

    def _topics(self, action: str, run_id: str, arguments: Sequence[str]) -> None:
        """Run the program that creates and removes topics, on the host of the first broker."""
        client = library("The client of Kafka", RELEASE, self.host, TOPICS)
        options = [f"--brokers={','.join(self.addresses)}", f"--group={run_id}"]
        argv = [client.python, *ALONE, "-m", TOPICS, action, *options, *arguments]
        result = self.host.run(argv, env=plain_variables(client.path), timeout_s=LIMIT_S)
        if result.returncode:
            raise SystemFault(f"Kafka cannot {action} topics: {result.stderr.strip()[-500:]}")


check = partial(checked, NAME, JavaSettings)


def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> AbstractContextManager[Deployment]:
    """Run one broker for the topology ``single``, else three.

    Their jars are fetched first if they are not in the cache.
    """
    values = {**settings}
    labels = LABELS[str(values.pop("topology", CLUSTER))]
    java_settings, size = check(values), len(labels)
    hosts = {host_folder.host.name: host_folder.host for host_folder in host_folders[:size]}
    tools = {name: brokers.tools_on(host, java_settings) for name, host in hosts.items()}

    def launch(
        servers: Servers, ports: tuple[int, ...], host_folders: Sequence[HostFolder]
    ) -> Kafka:
        places = brokers.places(labels, host_folders, ports[:size])
        group = Peers(places, ports[size:])
        nodes = [
            brokers.broker(tools[place.host_folder.host.name], group, index)
            for index, place in enumerate(places)
        ]
        servers.start(nodes, java_settings.start_timeout_s)
        first = places[0].host_folder.host
        about: dict[str, JsonValue] = {
            "product": "Kafka",
            "version": brokers.VERSION,
            "runtime": f"Java {tools[first.name].java.version}",
            "heap_bytes": java_settings.heap_mb * 2**20,
            "config": nodes[0].files[brokers.CONFIG],
        }
        return Kafka(servers, about, first, tuple(node.name for node in nodes))

    return ServerLauncher("Kafka", host_folders, size).launched(2 * size, launch)


SYSTEM = System(
    name=NAME,
    title="Kafka",
    topologies=(SINGLE, CLUSTER),
    queues=(TOPIC.name,),
    drivers={"simulator": RELEASE.name},
    installed=brokers.installed,
    check=check,
    start=start,
    tools=(JAVA,),
    own_deployment=lambda topology: topology == SINGLE,
    incompatible_test_cases=dict.fromkeys(
        ("rpc-call", "rpc-cast", "rpc-fanout"), NOTIFICATIONS_ONLY
    ),
    labels=lambda topology, _settings: LABELS[topology],
)
