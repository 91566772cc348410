"""A RabbitMQ that tests share, how sweeps get it, or another system, and pika's way to it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

import pika
import pytest
from pydantic import JsonValue

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems import SYSTEMS, Deployment
from mqperf.lab.systems.rabbitmq.private import PrivateCluster, private_cluster
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf_numbered.onhost.broker import Broker

TELLING: Mapping[str, JsonValue] = SYSTEMS["rabbitmq"].watched({})
"""How its nodes are set, so that the probe ``inside`` may ask them."""

Theirs: TypeAlias = pika.adapters.blocking_connection.BlockingChannel


@contextmanager
def running() -> Iterator[PrivateCluster]:
    """Its nodes, while the context lasts."""
    host = LocalHost()
    with (
        host.scratch("test-rabbitmq") as folder,
        private_cluster(parse_settings(TELLING), [HostFolder(host, folder)]) as deployment,
    ):
        yield deployment


@contextmanager
def lent(deployment: Deployment, name: str = "rabbitmq") -> Iterator[None]:
    """Let sweeps have this deployment instead of one of their own; their plans set nothing of it.

    Whatever of a RabbitMQ was frozen goes on when a sweep gives it back.
    """
    system = SYSTEMS[name]

    @contextmanager
    def start(
        settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
    ) -> Iterator[Deployment]:
        assert settings in ({}, system.watched({})), "who sets something has nodes of its own"
        deployment.collect(
            host_folders[0].folder
        )  # what was logged until now is of no run of the sweep
        try:
            yield deployment
        finally:
            if isinstance(deployment, PrivateCluster):
                for service in deployment.servers._services:
                    service.process.resume()

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SYSTEMS._values, system.name, replace(system, start=start))
        yield


def master_of(cluster: PrivateCluster) -> Broker:
    """Where and as whom to connect."""
    inner = cluster._cluster
    return Broker((f"127.0.0.1:{inner.amqp_port(0)}",), "mqperf", inner.secrets.password, "/")


@contextmanager
def channel(broker: Broker) -> Iterator[Theirs]:
    """A channel of pika's."""
    host, _, port = broker.addresses[0].rpartition(":")
    login = pika.PlainCredentials(broker.user, broker.password)
    parameters = pika.ConnectionParameters(host, int(port), credentials=login)
    with pika.BlockingConnection(parameters) as connection:
        yield connection.channel()


def told(cluster: PrivateCluster, expression: str) -> None:
    """Have the Master do something, at once: rabbitmqctl would take as long as the load."""
    assert cluster._rabbitmqctl.says_ok("mqperf1@localhost", expression)


CUT = """\
lists:foreach(fun(Pid) -> rabbit_networking:close_connection(Pid, "tested") end,
  rabbit_networking:connections())."""


def cut(cluster: PrivateCluster) -> None:
    """Have the broker close all connections."""
    told(cluster, CUT)
