"""Private brokers that speak AMQP 1.0, and what they provision for a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, JsonValue

from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.private import Servers
from mqperf.lab.systems.settings import Flag, SystemSettings
from mqperf.lab.systems.system import Node
from mqperf.plan import Case

RELEASE = "amqp"


class BrokerSettings(SystemSettings):
    """What a plan may say about a broker that is written in Java."""

    heap_mb: int = Field(default=512, ge=64, strict=True)


class TellingSettings(BrokerSettings):
    """What a plan may say about one that, with ``metrics``, tells of its inside."""

    metrics: Flag = False


def about(
    product: str, version: str, runtime: str, heap_mb: int, config: str
) -> dict[str, JsonValue]:
    """Facts of every such broker; ``config`` is the text of its configuration."""
    return {
        "product": product,
        "version": version,
        "runtime": runtime,
        "heap_bytes": heap_mb * 2**20,
        "config": config,
    }


@dataclass(frozen=True, slots=True)
class AmqpBrokers:
    """The deployment: servers, the addresses of its brokers (the active one first), and facts."""

    servers: Servers
    addresses: tuple[str, ...]
    about: Mapping[str, JsonValue]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Brokers, in the order of their addresses, then what they need."""
        return tuple(sorted(self.servers.nodes, key=lambda node: self._place(node.name)))

    def provision(self, _case: Case, _run_id: str) -> Access:
        """Give all brokers, the active one first; runs keep apart by their topics."""
        brokers = Endpoint("amqp-1.0", self.addresses)
        return Access(brokers, brokers)

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Leave the run's queues to the broker, which removes those that nobody uses."""

    def facts(self) -> dict[str, JsonValue]:
        """What the broker is, its configuration, and the memory of every node."""
        nodes = sorted(self.servers.facts(), key=lambda node: self._place(str(node["name"])))
        return {**self.about, "nodes": [*nodes]}

    def check(self) -> None:
        """Raise ``SystemFault`` for the first server that is dead, with the end of its log."""
        self.servers.check()

    def collect(self, folder: Path) -> None:
        """Copy every server's configuration and the run's part of its log."""
        self.servers.collect(folder)

    def _place(self, name: str) -> int:
        known = self.addresses
        return known.index(name) if name in known else len(known)
