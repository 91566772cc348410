"""Configurations of deployments: RabbitMQ's settings beyond its defaults, with their sources.

Settings that mqperf makes itself are left out: addresses, ports, users, certificates, logs, names
of nodes, and the memory watermark.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = bool | int | float | str
"""The value of a key."""

Keys = Mapping[str, Value]
"""Keys of a file, variables of an environment, or the definition of a policy."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A configuration of a deployment; ``source`` is where it is published, with a date."""

    name: str
    source: str
    config: Keys = field(default_factory=dict)
    advanced: Keys = field(default_factory=dict)
    environment: Keys = field(default_factory=dict)
    policy: Keys = field(default_factory=dict)


_ALL = (
    Preset("none", "RabbitMQ as mqperf starts it"),
    Preset(
        "openstack-2016",
        "OpenStack performance-docs, test plan Message Queue Performance, 5.14.1.1.1,"
        " rabbitmq.config",
        config={
            "cluster_partition_handling": "autoheal",
            "net_ticktime": 10,
            "tcp_listen_options.backlog": 128,
            "tcp_listen_options.nodelay": True,
            "tcp_listen_options.exit_on_close": False,
            "tcp_listen_options.keepalive": True,
        },
        advanced={"kernel.inet_default_connect_options": "[{nodelay, true}]"},
    ),
    Preset(
        "kolla-ansible",
        "openstack/kolla-ansible, ansible/roles/rabbitmq: templates/rabbitmq.conf.j2,"
        " defaults/main.yml (2026)",
        config={"cluster_partition_handling": "pause_minority"},
        environment={
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none"
        },
    ),
    Preset(
        "openstack-ansible",
        "openstack/openstack-ansible-rabbitmq_server: templates/rabbitmq.conf.j2,"
        " advanced.config.j2 and rabbitmq-env.j2, defaults/main.yml (May 2026)",
        config={
            "cluster_partition_handling": "pause_minority",
            "collect_statistics_interval": 5000,
            "heartbeat": 640,
            "handshake_timeout": 40000,
            "ssl_handshake_timeout": 20000,
        },
        advanced={"mnesia.dump_log_write_threshold": 300},
        environment={
            "RABBITMQ_IO_THREAD_POOL_SIZE": 128,
            "RABBITMQ_SERVER_ERL_ARGS": "+P 1048576",
        },
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _ALL}
