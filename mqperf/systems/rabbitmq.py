"""RabbitMQ as a system under test: a private cluster, or one that is already there."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts import LocalHost
from mqperf.systems.rabbitmq_access import POLICIES
from mqperf.systems.rabbitmq_control import installed_version
from mqperf.systems.rabbitmq_existing import existing_cluster
from mqperf.systems.rabbitmq_launch import private_cluster
from mqperf.systems.rabbitmq_settings import parse_settings
from mqperf.systems.system import Deployment, System


@contextmanager
def start(settings: Mapping[str, JsonValue], host: LocalHost, folder: Path) -> Iterator[Deployment]:
    """Bring a cluster up in ``folder``, or check the one which the settings' URLs lead to."""
    parsed = parse_settings(settings)
    if parsed.urls:
        yield existing_cluster(parsed)
    else:
        with private_cluster(parsed, host, folder) as deployment:
            yield deployment


SYSTEM = System(
    name="rabbitmq",
    title="RabbitMQ",
    topologies=("cmsm", "cs1ss2"),
    queues=tuple(POLICIES),
    simulator="rabbitmq",
    installed=installed_version,
    check=parse_settings,
    start=start,
)
