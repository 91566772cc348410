"""Brokers that are written in Java: how any is installed, and a system that is one alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts import Host, Spot
from mqperf.lab.systems.amqp_brokers import DRIVERS, AmqpBrokers, TellingSettings
from mqperf.lab.systems.java import JAVA, Java, installed_java
from mqperf.lab.systems.java.archive import Archive, available, fetched
from mqperf.lab.systems.java.jolokia import Agent, jolokia_on
from mqperf.lab.systems.private import Servers, Site
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import checked
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, System


@dataclass(frozen=True, slots=True)
class Tools:
    """What every broker of a host is started with: Java, the unpacked archive, and its heap."""

    java: Java
    home: Path
    heap_mb: int


@dataclass(frozen=True, slots=True)
class Edition:
    """One version of a broker: its archive, the oldest Java for it, its file of settings.

    ``beside`` are archives that it needs, too.
    """

    product: str
    archive: Archive
    oldest_java: int
    config: str
    beside: tuple[Archive, ...] = ()

    def installed(self, host: Host) -> str:
        """The version, when the host has Java, and all else is here or can be fetched."""
        java = installed_java(self.oldest_java, host)
        for archive in (self.archive, *self.beside):
            available(archive)
        return f"{self.archive.version}, on Java {java.version}"

    def tools_on(self, host: Host, heap_mb: int) -> Tools:
        """The tools of brokers on a host, fetched here and copied there if they are not there."""
        java = installed_java(self.oldest_java, host)
        return Tools(java, host.copied(fetched(self.archive)), heap_mb)

    def facts(self, broker: Server, tools: Tools, beside: str = "") -> dict[str, JsonValue]:
        """Facts of a broker with these tools; ``beside`` Java it needs what this says."""
        return {
            "product": self.product,
            "version": self.archive.version,
            "runtime": f"Java {tools.java.version}{beside}",
            "heap_bytes": tools.heap_mb * 2**20,
            "config": broker.files[self.config],
        }


def alone(
    name: str,
    title: str,
    edition: Edition,
    broker: Callable[[Tools, Spot, int, Agent | None], Server],
) -> System:
    """The system of one such broker on the first host, fetched first if it is not in the cache.

    ``broker`` gives it with its tools, in a folder, at a port, and telling of its inside by an
    agent if there is one.
    """

    def check(settings: Mapping[str, JsonValue]) -> TellingSettings:
        return checked(name, TellingSettings, settings)

    @contextmanager
    def start(settings: Mapping[str, JsonValue], spots: Sequence[Spot]) -> Iterator[Deployment]:
        wanted, host = check(settings), spots[0].host
        tools = edition.tools_on(host, wanted.heap_mb)
        agents = jolokia_on(host) if wanted.metrics else None

        def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[Spot]) -> AmqpBrokers:
            spot = places[0].within("broker")
            agent = None if agents is None else agents.at(spot, ports[1])
            server = broker(tools, spot, ports[0], agent)
            servers.start([server], wanted.start_timeout_s)
            return AmqpBrokers(servers, (server.name,), edition.facts(server, tools))

        redact = str if agents is None else agents.redacted
        with Site(title, spots, redact=redact).launched(2, launch) as deployment:
            yield deployment

    return System(
        name=name,
        title=title,
        topologies=("single",),
        queues=("classic",),
        drivers=DRIVERS,
        installed=edition.installed,
        check=check,
        start=start,
        tools=(JAVA,),
        telling={"metrics": True},
        labels=lambda _topology, _settings: (ONLY_BROKER,),
    )
