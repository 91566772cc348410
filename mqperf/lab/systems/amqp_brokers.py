"""Private brokers that speak AMQP 1.0, and what they provision for a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue
from typing_extensions import override

from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.private import OfServers
from mqperf.lab.systems.settings import Flag, SystemSettings
from mqperf.lab.systems.system import Node
from mqperf.plan import Case

RELEASE = "amqp"
DRIVERS = {"simulator": RELEASE, "amqp-1.0": "amqp-1.0"}
"""By generator, what speaks to such brokers."""


class BrokerSettings(SystemSettings):
    """What a plan may say about a broker that is written in Java."""

    heap_mb: int = Field(default=512, ge=64, strict=True)


class TellingSettings(BrokerSettings):
    """What a plan may say about one that, with ``metrics``, tells of its inside."""

    metrics: Flag = False


@dataclass(frozen=True, slots=True)
class AmqpBrokers(OfServers):
    """The deployment: servers, the addresses of its brokers (the active one first), and facts."""

    addresses: tuple[str, ...]
    about: Mapping[str, JsonValue]

    @property
    @override
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

    def _place(self, name: str) -> int:
        known = self.addresses
        return known.index(name) if name in known else len(known)
