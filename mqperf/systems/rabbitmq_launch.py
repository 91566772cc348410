"""Starting and stopping a private RabbitMQ cluster."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mqperf.errors import SystemFault
from mqperf.hosts import Host, Process, stop_all
from mqperf.hosts.ports import is_free
from mqperf.systems.evidence import check_alive, last_lines, text
from mqperf.systems.rabbitmq_config import NODES, PORT_COUNT, Cluster
from mqperf.systems.rabbitmq_control import Control, installed_version, server_program
from mqperf.systems.rabbitmq_private import NoClusterError, PrivateCluster
from mqperf.systems.rabbitmq_settings import Settings
from mqperf.systems.rabbitmq_version import parsed

STARTED = "Server startup complete"
PORT_IS_TAKEN = ("could_not_start_listener", "dist_port_already_used", "eaddrinuse")
EPMD_LOG = "epmd.log"
STOP_GRACE_S = 15
POLL_S = 0.05


class PortTakenError(SystemFault):
    """Somebody took one of our ports between the choice and the start."""


@contextmanager
def private_cluster(settings: Settings, host: Host, folder: Path) -> Iterator[PrivateCluster]:
    """Run three nodes which form one cluster, on loopback only, with everything in ``folder``.

    When a port was taken in the meantime, or the nodes have not found each other (each looks for
    the others for a limited time), it tries once more.

    Raises ``SystemFault`` when RabbitMQ is missing, a node dies or is not ready in time, or no
    cluster is formed; ``HostError`` when the folder cannot be written.
    """
    program = server_program()
    with ExitStack() as stack:
        yield _started(stack, settings, host, program, folder)


def _started(
    stack: ExitStack, settings: Settings, host: Host, program: Path, folder: Path
) -> PrivateCluster:
    try:
        return stack.enter_context(_attempt(settings, host, program, folder / "rabbitmq"))
    except (PortTakenError, NoClusterError):
        return stack.enter_context(_attempt(settings, host, program, folder / "rabbitmq-again"))


@contextmanager
def _attempt(
    settings: Settings, host: Host, program: Path, folder: Path
) -> Iterator[PrivateCluster]:
    with host.ports(PORT_COUNT) as ports, ExitStack() as stack:
        cluster = Cluster(folder, ports, settings, parsed(installed_version()))
        cluster.write(host)
        epmd = host.start(
            "epmd", cluster.epmd_argv(), env=cluster.environment(), log=folder / EPMD_LOG
        )
        stack.callback(epmd.stop, STOP_GRACE_S)
        nodes = _start_nodes(stack, cluster, host, program)
        _await_startup(host, cluster, epmd, nodes)
        program = program.with_name("rabbitmqctl")
        control = Control(host, program, cluster.ctl_environment(), folder)
        yield PrivateCluster(cluster, control, nodes)


def _start_nodes(stack: ExitStack, cluster: Cluster, host: Host, program: Path) -> list[Process]:
    nodes: list[Process] = []
    stack.callback(stop_all, nodes, STOP_GRACE_S)
    for index in range(NODES):
        folder = cluster.node_folder(index)
        nodes.append(
            host.start(
                folder.name,
                [str(program)],
                env=cluster.node_environment(index),
                log=folder / "node.log",
                cwd=folder,
            )
        )
    return nodes


def _await_startup(host: Host, cluster: Cluster, epmd: Process, nodes: Sequence[Process]) -> None:
    """Wait until every node says in its log that it is up: asking rabbitmqctl would slow it."""
    deadline = time.monotonic() + cluster.settings.start_timeout_s
    waiting = list(nodes)
    while waiting:
        host.check_room(cluster.folder)
        for process in (epmd, *nodes):
            _check_starting(host, process, cluster)
        waiting = [node for node in waiting if STARTED not in text(host, node.log)]
        if waiting and time.monotonic() > deadline:
            raise SystemFault(
                f"RabbitMQ's {waiting[0].label} is not up after"
                f" {cluster.settings.start_timeout_s} s;"
                f" {last_lines(host, waiting[0].log, cluster.redacted)}"
            )
        time.sleep(POLL_S)


def _check_starting(host: Host, process: Process, cluster: Cluster) -> None:
    try:
        check_alive(host, process, f"RabbitMQ's {process.label}", cluster.redacted)
    except SystemFault as fault:
        if _lost_its_port(host, process, cluster):
            raise PortTakenError(f"a port was taken while RabbitMQ started: {fault}") from None
        raise


def _lost_its_port(host: Host, process: Process, cluster: Cluster) -> bool:
    """Whether the log says so; epmd ends without a word, so that its port must tell."""
    if host.size(process.log) == 0 and process.log.name == EPMD_LOG:
        return not is_free(cluster.epmd_port)
    return any(sign in text(host, process.log) for sign in PORT_IS_TAKEN)
