"""A backend for links: it changes nothing, and measures what the plan requests."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import JsonValue

from mqperf.hosts import Hosts
from mqperf.lab.links import Backend
from mqperf.plan import LinkPoint
from mqperf.record import MeasuredLink


@dataclass(frozen=True)
class Wire:
    """The link."""

    asked: LinkPoint

    def measure(self) -> MeasuredLink:
        """A tenth of a millisecond more than requested."""
        return MeasuredLink(delay_s=self.asked.delay_s + 1e-4)

    def check(self) -> None:
        """Find no fault."""

    def processes(self) -> Mapping[str, Mapping[str, int]]:
        """It has no processes."""
        return {}

    def facts(self) -> Mapping[str, JsonValue]:
        """Say that it is a toy."""
        return {"toy": True}

    def cut(self) -> None:
        """Do nothing."""

    def swallow(self) -> None:
        """Do nothing."""

    def beyond(self, quantities: Mapping[str, float]) -> str | None:
        """Accept every impairment."""

    def impair(self, quantities: Mapping[str, float]) -> None:
        """Do nothing."""

    def restore(self) -> None:
        """Do nothing."""


def obstacle(link: LinkPoint, hosts: Hosts) -> str | None:
    """Refuse losses, and links without hosts at both ends."""
    if link.loss_share:
        return "it cannot lose packets"
    return None if all(hosts.of(role) for role in link.between) else "an end has no host"


@contextmanager
def laid(link: LinkPoint, _hosts: Hosts) -> Iterator[Wire]:
    """Yield the link."""
    yield Wire(link)


LINK = Backend("toy-wire", "Toy wire", obstacle, laid)
