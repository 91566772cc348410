"""RabbitMQ in two sites as a system under test: two private brokers that form no cluster."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from pydantic import Field, JsonValue

from mqperf.base.releases import parsed
from mqperf.hosts import HostFolder
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.private import PrivateDeployment, ServerLauncher, Servers
from mqperf.lab.systems.rabbitmq.config import USER, Cluster, Secrets, port_count
from mqperf.lab.systems.rabbitmq.installation import TOOL, installed_version
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Rabbitmqctl
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import SystemSettings, checked
from mqperf.lab.systems.system import Deployment, System
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_amqp_0_9_1.plan.parameters import GENERATOR
from mqperf_sites.lab import joined
from mqperf_sites.plan.topologies import FAMILY, NODES

NAME = "rabbitmq-sites"
CONF = "rabbitmq.conf"


class SiteSettings(SystemSettings):
    """The settings of both brokers, and of what joins them.

    ``join_prefetch`` is how many messages of a queue may be under way between the sites.  They are
    acknowledged to the near site when the far one has confirmed them, or sooner (``join_acks``).
    """

    memory_watermark_mb: int = Field(default=1024, ge=64, le=16_777_216, strict=True)
    join_prefetch: int = Field(default=1_000, ge=1, le=65_535, strict=True)
    join_acks: joined.Acks = "on-confirm"


@dataclass(frozen=True, slots=True)
class Sites(PrivateDeployment):
    """The deployment: both brokers, each with the rabbitmqctl of its host."""

    rabbitmqctls: Sequence[Rabbitmqctl]
    brokers: Endpoint
    settings: SiteSettings

    def provision(self, case: Case, run_id: str) -> Access:
        """Make a virtual host for the run in both brokers, and join them by the topology."""
        brokers = replace(self.brokers, vhost=run_id)
        both = [replace(brokers, addresses=(address,)) for address in brokers.addresses]
        options = self.settings.join_prefetch, self.settings.join_acks
        near, far = joined.near(case, run_id, both, *options), joined.far(case, both, *options)
        vhosts = [({}, near), (joined.policies(case), far)]
        for node, rabbitmqctl, vhost in zip(self.nodes, self.rabbitmqctls, vhosts, strict=True):
            rabbitmqctl.add_vhost(node.name, run_id, USER, *vhost)
        return Access.by(TOPOLOGIES[case.topology], brokers)

    def clean_up(self, run_id: str, _queues: Sequence[str]) -> None:
        """Delete the run's virtual hosts, with their queues and what joined them."""
        for node, rabbitmqctl in zip(self.nodes, self.rabbitmqctls, strict=True):
            rabbitmqctl.delete_vhost(node.name, run_id)


check = partial(checked, NAME, SiteSettings)


def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> AbstractContextManager[Deployment]:
    """Run the near broker on the first host, the far one on the second if there is one."""
    site_settings, secrets = check(settings), Secrets()
    timeout_s, memory_mb = site_settings.start_timeout_s, site_settings.memory_watermark_mb
    node_settings = parse_settings({"memory_watermark_mb": memory_mb, "start_timeout_s": timeout_s})
    hosts = {place.host.name: place.host for place in host_folders[: len(NODES)]}
    installations = {name: node_settings.installation(host) for name, host in hosts.items()}
    version = installations[host_folders[0].host.name].version

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[HostFolder]) -> Sites:
        cluster = Cluster(places, ports, node_settings, parsed(version), installations, secrets)
        cluster.write_homes()
        servers.start(cluster.port_mappers(), timeout_s)
        nodes = [alone(cluster.node(index), label) for index, label in enumerate(NODES)]
        servers.start(nodes, timeout_s)
        about: dict[str, JsonValue] = {
            "product": "RabbitMQ",
            "version": version,
            "config": secrets.redacted(nodes[0].files[CONF]),
        }
        addresses = [f"{cluster.address(at)}:{cluster.amqp_port(at)}" for at in range(len(NODES))]
        brokers = Endpoint(GENERATOR.name, tuple(addresses), USER, secrets.password)
        rabbitmqctls = [_rabbitmqctl(cluster, place) for place in places]
        return Sites(servers, about, rabbitmqctls, brokers, site_settings)

    launcher = ServerLauncher("RabbitMQ", host_folders, len(NODES), secrets.redacted)
    return launcher.launched(port_count(), launch)


def alone(node: Server, label: str) -> Server:
    """Return a node without peer discovery, and with the plugins that join its site to another."""
    lines = node.files[CONF].splitlines()
    kept = [line for line in lines if not line.startswith("cluster_formation.")]
    plugins = f"[{','.join(joined.PLUGINS)}]."
    files = {**node.files, CONF: "\n".join(kept) + "\n", "enabled_plugins": plugins}
    return replace(node, label=label, files=files)


def _rabbitmqctl(cluster: Cluster, place: HostFolder) -> Rabbitmqctl:
    """Return the rabbitmqctl of a host, whose calls do not go to the other site."""
    return replace(
        cluster.rabbitmqctl(),
        host_folder=place,
        installation=cluster.installations[place.host.name],
        environment=cluster.ctl_environment(place),
    )


SYSTEM = System(
    name=NAME,
    title="RabbitMQ in two Sites",
    topologies=tuple(topology.name for topology in FAMILY.listed),
    queues=("classic",),
    drivers={GENERATOR.name: GENERATOR.name},
    installed=installed_version,
    check=check,
    start=start,
    tools=(TOOL,),
    labels=lambda _topology, _settings: NODES,
)
