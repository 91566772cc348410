"""The link of a run: made before its processes start, measured before and after the load."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from mqperf.base.errors import HostError
from mqperf.hosts import Host, Hosts
from mqperf.lab.links import LINKS, Laid, choose
from mqperf.plan import LinkPoint, Plan, tolerances
from mqperf.plan.columns import LINK
from mqperf.record import MeasuredLink

ATTEMPTS = 5
"""A machine that is busy for a moment delays packets: a link is off that is so every time."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A link that is there, and ``record``, where the run folder has what is measured of it."""

    asked: LinkPoint
    laid: Laid
    record: MutableMapping[str, Any]

    def measure(self, when: Literal["before", "after"]) -> None:
        """Write down what it is like now; raises ``HostError`` when that is not what is asked."""
        for _ in range(ATTEMPTS):
            measured = self.laid.measure()
            off = list(not_as_asked(self.asked, measured))
            if not off:
                break
        self.record.update({when: measured.model_dump(), **self.laid.facts()})
        if off:
            raise HostError(
                f"the link between {' and '.join(self.asked.between)} was not as asked {when} the"
                f" load: {'; '.join(off)}; measure again on a less busy machine, or ask for a link"
                " that it can emulate"
            )

    def processes(self, host: Host) -> dict[str, int]:
        """What runs for it on a host: pids by label."""
        return dict(self.laid.processes().get(host.name, {}))


def not_as_asked(asked: LinkPoint, measured: MeasuredLink) -> Iterator[str]:
    """What differs by more than it may; what was not asked for, or not measured, does not."""
    allowed = tolerances(asked.quantities)
    for name, wanted in asked.quantities.items():
        actual: float | None = getattr(measured, name)
        if wanted is not None and actual is not None and abs(actual - wanted) > allowed[name]:
            column = next(quantity for quantity in LINK if quantity.name == name)
            unit = column.shown or column.unit
            yield (
                f"{column.label} {actual * column.scale:.4g} {unit} instead of"
                f" {wanted * column.scale:.4g} {unit}"
            )


def check_links(plan: Plan, hosts: Hosts) -> None:
    """Raise ``HostError`` for the first link of a plan that nobody can make between its hosts."""
    for link in dict.fromkeys(link for around in plan.surroundings for link in around.links):
        if link is not None:
            choose(LINKS.values(), link, hosts)


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
        yield Linked(link, laid, record)
