"""The link of a run: created before its processes start, measured before and after the load."""

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
"""Measurements of which one must be within tolerance: a machine may be busy for a moment."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A link of a run, and ``record``, the part of the run's facts for its measurements."""

    asked: LinkPoint
    laid: Laid
    record: MutableMapping[str, Any]

    def measure(self, when: Literal["before", "after"]) -> None:
        """Measure and record the link; raises ``HostError`` when it differs from ``asked``."""
        for _ in range(ATTEMPTS):
            measured = self.laid.measure()
            deviations = list(not_as_asked(self.asked, measured))
            if not deviations:
                break
        self.record.update({when: measured.model_dump(), **self.laid.facts()})
        if deviations:
            raise HostError(
                f"the link between {' and '.join(self.asked.between)} was not as planned {when} the"
                f" load: {'; '.join(deviations)}; measure again on a less busy machine, or plan a"
                " link that it can emulate"
            )

    def processes(self, host: Host) -> dict[str, int]:
        """Return its processes on a host: pids by label."""
        return dict(self.laid.processes().get(host.name, {}))


def not_as_asked(asked: LinkPoint, measured: MeasuredLink) -> Iterator[str]:
    """Yield each quantity, asked for and measured, that differs by more than its tolerance."""
    allowed = tolerances(asked.quantities)
    for name, target in asked.quantities.items():
        actual: float | None = getattr(measured, name)
        if target is not None and actual is not None and abs(actual - target) > allowed[name]:
            column = next(quantity for quantity in LINK if quantity.name == name)
            unit = column.shown or column.unit
            yield (
                f"{column.label} {actual * column.scale:.4g} {unit} instead of"
                f" {target * column.scale:.4g} {unit}"
            )


def check_links(plan: Plan, hosts: Hosts) -> None:
    """Raise ``HostError`` for the first link of a plan that no backend can create."""
    for link in dict.fromkeys(link for each in plan.surroundings for link in each.links):
        if link is not None:
            choose(LINKS.values(), link, hosts)


@contextmanager
def linked(link: LinkPoint | None, hosts: Hosts, facts: dict[str, Any]) -> Iterator[Linked | None]:
    """Create the link of a case and yield it; None for a case without one.

    Adds ``link`` to ``facts``.  Raises ``HostError`` when no backend can create it.
    """
    if link is None:
        yield None
        return
    backend = choose(LINKS.values(), link, hosts)
    record = facts["link"] = {"backend": backend.name}
    with backend.laid(link, hosts) as laid:
        yield Linked(link, laid, record)
