"""A RabbitMQ cluster that is already there, or is not."""

import shlex
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from mqperf.errors import SystemFault
from mqperf.hosts import LocalHost
from mqperf.load import GENERATORS
from mqperf.plan import Case
from mqperf.systems.rabbitmq_existing import existing_cluster, queue_names
from mqperf.systems.rabbitmq_settings import Settings


def test_unreachable_node_is_named_without_its_password() -> None:
    """The user learns which URL is wrong."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"rabbit://u:secret@127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SystemFault, match=r"rabbit://u:\*\*\*@127.*cannot be reached") as fault:
            existing_cluster(Settings(nodes=("a",), urls=(url,)), LocalHost())
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
            existing_cluster(Settings(nodes=("a",), urls=(url,)), LocalHost())


@pytest.mark.parametrize("targets", ["own", "shared"])
def test_queues_of_a_run_are_known_by_name(targets: str) -> None:
    """What is deleted after a run is what the simulator's servers are told to declare."""
    case = Case.model_validate(
        {
            "system": "rabbitmq",
            "topology": "cmsm",
            "queues": "classic",
            "test_case": "rpc-call",
            "green_threads": 1,
            "processes": 3,
            "duration_s": 1,
            "parameters": {"targets": targets},
        }
    )
    names = set(queue_names(case, "mqperf"))
    for line in GENERATORS["simulator"].describe(case):
        words = shlex.split(line)
        topic = words[words.index("-tp") + 1]
        assert {topic, f"{topic}.info"} <= names
        if "-s" in words:
            assert f"{topic}.{words[words.index('-s') + 1]}" in names
