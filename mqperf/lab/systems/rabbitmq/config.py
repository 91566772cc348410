"""The specification of a private RabbitMQ cluster: ports, files, environments of its processes.

Nothing here starts anything.  Every environment is built from scratch and the path of every file
of RabbitMQ is set, so that neither the user's environment nor files under /etc have any effect.
"""

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.base.releases import Version
from mqperf.hosts import HERE, HostFolder
from mqperf.lab.systems.certificates import Certificates
from mqperf.lab.systems.rabbitmq import modules
from mqperf.lab.systems.rabbitmq.installation import Installation
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Rabbitmqctl
from mqperf.lab.systems.rabbitmq.settings import EXTENSIONS, Settings
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.system import ONLY_BROKER, node_label

USER = "mqperf"
NODES = 3
CTL_PORTS = 10
TLS_FILES: Mapping[str, str] = {
    "cacertfile": "../authority.pem",
    "certfile": "../nodes.pem",
    "keyfile": "../nodes.key",
}
"""Paths of certificates and key, relative to the folder of a node, by options of RabbitMQ."""


def port_count() -> int:
    """Return the number of ports of a cluster; nodes have one per name in ``EXTENSIONS``, too."""
    return 1 + (3 + len(EXTENSIONS)) * NODES + CTL_PORTS


# Listen on one address only, also between nodes, and do not let erl start a port mapper daemon.  As
# an environment variable it also applies to the child processes of a node: a monitor that looks for
# the port mapper once a minute, and since 3.13 a second Erlang that looks for the other nodes.
_ERL_FLAGS = "-start_epmd false -kernel inet_dist_use_interface {{{address}}}"

# RabbitMQ starts a syslog library even if nothing is logged to it, and the library opens a UDP
# socket on all addresses unless it writes to a file.
_NO_SYSLOG = "-syslog protocol {rfc5424,standard_error}"


@dataclass(frozen=True, slots=True)
class Secrets:
    """Random password of the user of a private cluster, and random cookie of its nodes."""

    password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_hex(24), repr=False)

    def redacted(self, text: str) -> str:
        """Return the text without the secrets."""
        return text.replace(self.password, "***").replace(self.cookie, "***")


@dataclass(frozen=True, slots=True)
class Cluster:
    """The layout of a private cluster: one folder per node, ports, and installations by host.

    A cluster of one node is a single broker.

    The ports are the same on every host, as the port mapper requires.  With certificates, clients
    connect by TLS only.
    """

    host_folders: Sequence[HostFolder]
    ports: Sequence[int]
    settings: Settings
    version: Version
    installations: Mapping[str, Installation]
    secrets: Secrets
    certificates: Certificates | None = None

    @property
    def epmd_port(self) -> int:
        """The port of the port mapper, by which the nodes find each other."""
        return self.ports[0]

    @property
    def node_names(self) -> tuple[str, ...]:
        """Erlang names of the nodes, Master first."""
        hosts = [
            "localhost" if self._is_local else host_folder.host.address
            for host_folder in self.host_folders
        ]
        return tuple(f"mqperf{number}@{name}" for number, name in enumerate(hosts, 1))

    @property
    def _is_local(self) -> bool:
        """Whether all nodes are on this machine; otherwise node names contain addresses."""
        return all(host_folder.host.name == HERE for host_folder in self.host_folders)

    @property
    def _is_single(self) -> bool:
        """Whether it has a single node, which does not look for others."""
        return len(self.host_folders) == 1

    def address(self, index: int) -> str:
        """Return the address on which a node listens."""
        return self.host_folders[index].host.address

    def node_folder(self, index: int) -> HostFolder:
        """Return the folder of all files of a node."""
        return self.host_folders[index].within(f"node{index + 1}")

    def amqp_port(self, index: int) -> int:
        """Return the port of a node for clients."""
        return self.ports[1 + index]

    def management_port(self, index: int) -> int:
        """Return the port of a node's management plugin, if that is enabled."""
        return self.ports[1 + 2 * NODES + index]

    def addresses(self, index: int) -> dict[str, str]:
        """Return further addresses, ``host:port``, of a node, by name in ``EXTENSIONS``."""
        ports = self.ports[1 + 3 * NODES + index :: NODES]
        return {
            name: f"{self.address(index)}:{port}"
            for name, port in zip(EXTENSIONS, ports, strict=False)
        }

    def config(self, index: int) -> str:
        """Return the rabbitmq.conf of a node, including the password."""
        lines = [
            # With this first user RabbitMQ does not create the user guest.
            f"default_user = {USER}",
            f"default_pass = {self.secrets.password}",
            f"vm_memory_high_watermark.absolute = {self.settings.memory_watermark_mb}MB",
            "log.console.level = info",
        ]
        if not self._is_single:
            lines.append("cluster_formation.peer_discovery_backend = classic_config")
            lines.append(f"cluster_formation.discovery_retry_limit = {self._discovery_retries}")
            lines.append("cluster_formation.discovery_retry_interval = 100")
            for number, name in enumerate(self.node_names, 1):
                lines.append(f"cluster_formation.classic_config.nodes.{number} = {name}")
        if self.certificates is not None:
            lines.append("listeners.tcp = none")
            lines.append(f"listeners.ssl.1 = {self.address(index)}:{self.amqp_port(index)}")
            lines += [f"ssl_options.{name} = {file}" for name, file in TLS_FILES.items()]
            # no certificates of clients: they log in by a password
            lines.append("ssl_options.verify = verify_none")
        if self.settings.management:
            lines.append(f"management.tcp.ip = {self.address(index)}")
            lines.append(f"management.tcp.port = {self.management_port(index)}")
        return "\n".join(lines) + "\n"

    @property
    def _discovery_retries(self) -> int:
        """How often a node looks for the others, at intervals of 100 ms.

        Since 3.13 a node looks until it finds another one that is starting as well; a node that
        gives up, for example on a slow machine, stays alone.  Before 3.13 the first node would only
        wait for peers that in turn wait for it.
        """
        return 10 * self.settings.start_timeout_s if self.version >= (3, 13) else 1

    @property
    def _host_folders(self) -> list[HostFolder]:
        """The first node folder on each host, the Master's first."""
        folders: dict[str, HostFolder] = {}
        for host_folder in self.host_folders:
            folders.setdefault(host_folder.host.name, host_folder)
        return [*folders.values()]

    def write_homes(self) -> None:
        """Write the cookie, and what loads modules, to the home of nodes and rabbitmqctl."""
        for host_folder in self._host_folders:
            host, folder = host_folder.host, host_folder.folder
            host.write(folder / ".erlang.cookie", self.secrets.cookie, 0o400)
            if self.version < modules.LOADS_ALL_BEFORE:
                host.write(folder / modules.FILE, modules.LOADER)

    def write_certificates(self) -> None:
        """Write certificates and key where the nodes look for them, for their owner only."""
        if (certificates := self.certificates) is None:
            return
        contents = (certificates.authority, certificates.nodes, certificates.key)
        for host_folder in self._host_folders:
            for file, content in zip(TLS_FILES.values(), contents, strict=True):
                host_folder.host.write(host_folder.folder / Path(file).name, content)

    def port_mappers(self) -> list[Server]:
        """Return the port mapper, epmd, of each host."""
        return [self._port_mapper(host_folder) for host_folder in self._host_folders]

    def _port_mapper(self, host_folder: HostFolder) -> Server:
        """Return an epmd in the foreground; without ``-d`` it does not report a taken port."""
        address = host_folder.host.address
        name = "epmd" if self._is_local else f"epmd-{host_folder.host.name}"
        argv = ("epmd", "-d", "-port", str(self.epmd_port), "-address", address)
        return Server(
            label=name.replace("-", " ", 1),
            name=f"{address}:{self.epmd_port}",
            host_folder=host_folder.within(name),
            argv=self.installations[host_folder.host.name].erlang(*argv, shown=host_folder.folder),
            env=self.environment(host_folder),
            ready=("epmd running",),
            taken=("already a epmd running",),
            helper=True,
        )

    def rabbitmqctl(self) -> Rabbitmqctl:
        """Return the rabbitmqctl on the Master's host."""
        host_folder = self.host_folders[0]
        installation = self.installations[host_folder.host.name]
        options = () if self._is_local else ("--longnames",)
        return Rabbitmqctl(host_folder, installation, self.ctl_environment(host_folder), options)

    def node(self, index: int) -> Server:
        """Return the server of a node."""
        host_folder = self.host_folders[index]
        installation = self.installations[host_folder.host.name]
        node = Server(
            label=ONLY_BROKER if self._is_single else node_label(index),
            name=self.node_names[index],
            host_folder=self.node_folder(index),
            argv=installation.command("rabbitmq-server", shown=host_folder.folder),
            env=self.node_environment(index),
            ready=("Server startup complete",),
            taken=("could_not_start_listener", "dist_port_already_used", "eaddrinuse"),
            files={
                "rabbitmq.conf": self.config(index),
                "enabled_plugins": f"[{','.join(self.settings.plugins)}].",
            },
        )
        return self.settings.tuned(node, self.addresses(index))

    def environment(self, host_folder: HostFolder) -> dict[str, str]:
        """Return the environment of epmd, the base of those of all other processes on a host."""
        return {
            "HOME": str(host_folder.folder),
            "PATH": host_folder.host.path,
            "LANG": "C.UTF-8",
            "ERL_EPMD_PORT": str(self.epmd_port),
            "ERL_EPMD_ADDRESS": host_folder.host.address,
            "ERL_AFLAGS": _ERL_FLAGS.format(address=host_folder.host.address.replace(".", ",")),
            # No crash dumps: they contain the password.
            "ERL_CRASH_DUMP_SECONDS": "0",
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            **({} if self._is_local else {"RABBITMQ_USE_LONGNAME": "true"}),
        }

    def ctl_environment(self, host_folder: HostFolder) -> dict[str, str]:
        """Return the environment of rabbitmqctl, of which several may run concurrently."""
        first, last = self.ports[-CTL_PORTS], self.ports[-1]
        return self.environment(host_folder) | {
            "RABBITMQ_CTL_ERL_ARGS": "+S 1:1",
            "RABBITMQ_CTL_DIST_PORT_MIN": str(first),
            "RABBITMQ_CTL_DIST_PORT_MAX": str(last),
        }

    def node_environment(self, index: int) -> dict[str, str]:
        """Return the environment of a node."""
        folder = self.node_folder(index).folder
        unencrypted = {
            "RABBITMQ_NODE_IP_ADDRESS": self.address(index),
            "RABBITMQ_NODE_PORT": str(self.amqp_port(index)),
        }
        return self.environment(self.host_folders[index]) | {
            **(unencrypted if self.certificates is None else {}),
            "RABBITMQ_NODENAME": self.node_names[index],
            "RABBITMQ_DIST_PORT": str(self.ports[1 + NODES + index]),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced.config"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_FEATURE_FLAGS_FILE": str(folder / "feature_flags"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "generated"),
            "RABBITMQ_PLUGINS_EXPAND_DIR": str(folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder),
            "RABBITMQ_MNESIA_DIR": str(folder / "data"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            # Log to standard output only.
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": _NO_SYSLOG,
            # Unbound: all nodes would bind their first scheduler to the same core.
            "RABBITMQ_SCHEDULER_BIND_TYPE": "u",
            # The script replaces itself by the broker instead of waiting for it: one pid for both.
            "RUNNING_UNDER_SYSTEMD": "true",
        }
