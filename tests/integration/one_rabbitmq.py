"""A RabbitMQ cluster that tests share: starting it, using it in sweeps, and access with pika."""

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

WATCHED: Mapping[str, JsonValue] = SYSTEMS["rabbitmq"].watched({})
"""Settings of its nodes that let the probe ``inside`` query them."""

PikaChannel: TypeAlias = pika.adapters.blocking_connection.BlockingChannel


@contextmanager
def running() -> Iterator[PrivateCluster]:
    """Start the cluster, and stop it when the context ends."""
    host = LocalHost()
    with (
        host.scratch("test-rabbitmq") as folder,
        private_cluster(parse_settings(WATCHED), [HostFolder(host, folder)]) as deployment,
    ):
        yield deployment


@contextmanager
def used_by_sweeps(deployment: Deployment, name: str = "rabbitmq") -> Iterator[None]:
    """Make sweeps use this deployment instead of starting one; their plans may have no settings.

    Nodes of a RabbitMQ that are frozen are resumed when a sweep ends.
    """
    system = SYSTEMS[name]

    @contextmanager
    def start(
        settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
    ) -> Iterator[Deployment]:
        assert settings in ({}, system.watched({})), "plans with settings need their own nodes"
        deployment.collect(
            host_folders[0].folder
        )  # the log until now belongs to no run of the sweep
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
    """The address and the login of the Master."""
    inner = cluster._cluster
    return Broker((f"127.0.0.1:{inner.amqp_port(0)}",), "mqperf", inner.secrets.password, "/")


@contextmanager
def channel(broker: Broker) -> Iterator[PikaChannel]:
    """A pika channel."""
    host, _, port = broker.addresses[0].rpartition(":")
    login = pika.PlainCredentials(broker.user, broker.password)
    parameters = pika.ConnectionParameters(host, int(port), credentials=login)
    with pika.BlockingConnection(parameters) as connection:
        yield connection.channel()


def evaluate(cluster: PrivateCluster, expression: str) -> None:
    """Evaluate an expression on the Master; rabbitmqctl would take as long as the load."""
    assert cluster._rabbitmqctl.says_ok("mqperf1@localhost", expression)


CLOSE_CONNECTIONS = """\
lists:foreach(fun(Pid) -> rabbit_networking:close_connection(Pid, "tested") end,
  rabbit_networking:connections())."""


def close_connections(cluster: PrivateCluster) -> None:
    """Make the broker close all connections."""
    evaluate(cluster, CLOSE_CONNECTIONS)
