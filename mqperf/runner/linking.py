"""The link of a run: made before its processes start, measured before and after the load."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from mqperf.hosts import Hosts
from mqperf.links import LINKS, Laid, choose
from mqperf.plan import LinkPoint


@dataclass(frozen=True, slots=True)
class Linked:
    """A link that is there, and ``record``, where the run folder has what is measured of it."""

    laid: Laid
    record: MutableMapping[str, Any]

    def measure(self, when: Literal["before", "after"]) -> None:
        """Write down what it is like now."""
        self.record[when] = self.laid.measure().model_dump()


@contextmanager
def linked(link: LinkPoint | None, hosts: Hosts, facts: dict[str, Any]) -> Iterator[Linked | None]:
    """The link that a case asks for; None where it asks for none.

    ``facts`` get ``link``.  Raises ``HostError`` when no backend can make it.
    """
    if link is None:
        yield None
        return
    backend = choose(LINKS.values(), link, hosts)
    record = facts["link"] = {"backend": backend.name}
    with backend.laid(link, hosts) as laid:
        yield Linked(laid, record)
