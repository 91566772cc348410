"""Settings in a plan for the stream protocol of a private RabbitMQ."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Self

from pydantic import model_validator
from typing_extensions import override

from mqperf.base.errors import SystemFault
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Definitions
from mqperf.lab.systems.rabbitmq.settings import Settings
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import Flag
from mqperf.plan import Case
from mqperf_numbered.lab.launcher import addresses
from mqperf_streams.lab.super_streams import super_streams
from mqperf_streams.plan.parameters import GENERATOR, of_case

CONF = "rabbitmq.conf"


class StreamSettings(Settings):
    """Settings: with ``streams``, nodes have the stream plugin, on separate addresses."""

    name: ClassVar = "stream"

    streams: Flag = False

    @model_validator(mode="after")
    def _of_a_private_cluster(self) -> Self:
        if self.streams and self.urls:
            raise ValueError(
                "streams are for a cluster that mqperf starts: leave it out beside urls"
            )
        return self

    @property
    @override
    def plugins(self) -> tuple[str, ...]:
        return (*super().plugins, *(["rabbitmq_stream"] if self.streams else []))

    @override
    def tuned(self, node: Server, addresses: Mapping[str, str]) -> Server:
        node = super().tuned(node, addresses)
        if not self.streams:
            return node
        address = addresses[StreamSettings.name]
        lines = f"stream.listeners.tcp.1 = {address}\n"
        if self.tls:
            lines = f"stream.listeners.tcp = none\nstream.listeners.ssl.1 = {address}\n"
        return replace(node, files={**node.files, CONF: node.files[CONF] + lines})

    @override
    def listener(self, case: Case) -> str | None:
        if case.generator != GENERATOR.name:
            return super().listener(case)
        if not self.streams:
            raise SystemFault(
                "rabbitmq: nodes speak the stream protocol in a cluster that mqperf starts, with"
                " the plugin: set settings: {streams: true} of rabbitmq in the plan"
            )
        return StreamSettings.name

    @override
    def declared(self, case: Case, run_id: str, version: str) -> Definitions:
        if case.generator != GENERATOR.name or (count := of_case(case).partitions) == 1:
            return super().declared(case, run_id, version)
        return super_streams(addresses(case, run_id), count)
