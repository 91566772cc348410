"""RabbitMQ as a system under test: a private cluster or broker, or an existing one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, HostFolder
from mqperf.lab.systems.rabbitmq.config import NODES
from mqperf.lab.systems.rabbitmq.existing import existing_cluster
from mqperf.lab.systems.rabbitmq.installation import TOOL, installed_version
from mqperf.lab.systems.rabbitmq.policies import POLICIES
from mqperf.lab.systems.rabbitmq.private import private_cluster
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf.lab.systems.rabbitmq.version import kind_of_queue
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, System, node_label

SINGLE = "single"
"""The topology of a single broker in its own deployment; the others share a cluster."""

_NO_COPIES = f"topology {SINGLE} is one broker, which mirrors to no other: plan these queues apart"


@contextmanager
def start(
    settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
) -> Iterator[Deployment]:
    """Start nodes on the hosts, or connect to those of the URLs in the settings."""
    values = {**settings}
    nodes = 1 if values.pop("topology", None) == SINGLE else NODES
    parsed = parse_settings(values)
    if parsed.urls:
        yield existing_cluster(parsed, [host_folder.host for host_folder in host_folders])
    else:
        with private_cluster(parsed, host_folders, nodes) as deployment:
            yield deployment


def incompatible_settings(topology: str, settings: Mapping[str, JsonValue]) -> str | None:
    """Return why the topology is not available: it is one broker, and the settings name more."""
    urls = settings.get("urls")
    if topology == SINGLE and isinstance(urls, list | tuple) and len(urls) > 1:
        return f"topology {SINGLE} is one broker: give one node and one URL instead of {len(urls)}"
    return None


def queue_kind(asked: str, settings: Mapping[str, JsonValue], host: Host) -> str:
    """Return the actual kind of queue: ``ha`` becomes the kind that the version has.

    Raises ``SystemFault`` for a kind that it does not have, and for ``ha`` of an existing cluster.
    """
    if not (parsed := parse_settings(settings)).urls:
        version = parsed.obtainable(host)
        parsed.check_version(version)
        return kind_of_queue(asked, version)
    if asked == "ha":
        raise SystemFault(
            "rabbitmq: which queues an existing cluster replicates is its owner's choice:"
            " plan queues: [mirrored] or [quorum] instead of ha"
        )
    return asked


def labels(topology: str, settings: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the labels of the nodes of a private or an existing cluster."""
    if topology == SINGLE:
        return (ONLY_BROKER,)
    return tuple(map(node_label, range(len(parse_settings(settings).nodes) or NODES)))


SYSTEM = System(
    name="rabbitmq",
    title="RabbitMQ",
    topologies=("cmsm", "cs1ss2", "any-node", SINGLE, "cs1ss1", "cmss2"),
    queues=(*POLICIES, "ha"),
    drivers={"simulator": "rabbitmq"},
    installed=installed_version,
    queue_kind=queue_kind,
    encrypts=lambda settings: parse_settings(settings).encrypted,
    check=parse_settings,
    start=start,
    tools=(TOOL,),
    telling={"metrics": True},
    getting=lambda settings, hosts: parse_settings(settings).getting(hosts),
    own_deployment=lambda topology: topology == SINGLE,
    incompatible_queues={
        (SINGLE, queues): f"{queues} queues: {_NO_COPIES}" for queues in ("mirrored", "ha")
    },
    incompatible_settings=incompatible_settings,
    labels=labels,
)
