"""A RabbitMQ cluster that is already there, or is not."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from mqperf.base.errors import SystemFault
from mqperf.hosts import LocalHost
from mqperf.lab.systems.rabbitmq.existing import existing_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings


def test_unreachable_node_is_named_without_its_password() -> None:
    """The user learns which URL is wrong."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"rabbit://u:secret@127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SystemFault, match=r"rabbit://u:\*\*\*@127.*cannot be reached") as fault:
            existing_cluster(Settings(nodes=("a",), urls=(url,)), [LocalHost()])
    assert "secret" not in str(fault.value)


def greet(server: socket.socket) -> None:
    with server.accept()[0] as visitor:
        visitor.sendall(b"SSH-2.0-not-a-broker\r\n")


def test_stranger_on_the_port_is_refused() -> None:
    """Something that is no RabbitMQ is not measured as one."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        pool.submit(greet, server)
        url = f"rabbit://u:p@127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(SystemFault, match="cannot be reached"):
            existing_cluster(Settings(nodes=("a",), urls=(url,)), [LocalHost()])
