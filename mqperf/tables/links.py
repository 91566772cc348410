"""The link of a run: what the plan asked for, and what was measured before and after the load."""

from collections.abc import Iterator
from typing import Any

from mqperf.plan import Case, LinkPoint
from mqperf.record import Facts

UNITS = ("_bits_s", "_share", "_s")
QUANTITIES = tuple(name for name in LinkPoint.model_fields if name != "between")


def links(case: Case, facts: Facts) -> Iterator[dict[str, Any]]:
    """The row of a run whose plan asks for a link; none of any other."""
    if case.link is None or facts.link is None:
        return
    asked = {name: getattr(case.link, name) for name in QUANTITIES}
    row = {"between": ", ".join(case.link.between), "backend": facts.link.backend, **asked}
    for when in ("before", "after"):
        measured = getattr(facts.link, when)
        for name in QUANTITIES if measured is not None else ():
            row[measured_column(name, when)] = getattr(measured, name)
    yield row


def measured_column(quantity: str, when: str) -> str:
    """The column of a quantity as it was measured: ``delay_before_s``."""
    unit = next(end for end in UNITS if quantity.endswith(end))
    return f"{quantity.removesuffix(unit)}_{when}{unit}"
