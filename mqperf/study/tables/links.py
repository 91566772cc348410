"""The link of a run: what the plan asked for, and what was measured before and after the load."""

from collections.abc import Iterator
from typing import Any

from mqperf.plan import Case
from mqperf.plan.columns import COLUMNS, measured_column
from mqperf.record import Facts


def links(case: Case, facts: Facts) -> Iterator[dict[str, Any]]:
    """The row of a run whose plan asks for a link, also of one that records none of it."""
    if case.link is None:
        return
    row = {"between": ", ".join(case.link.between), "backend": None, **case.link.quantities}
    if facts.link is not None:
        counted = {f"packets_{name}": number for name, number in facts.link.packets.items()}
        row |= {name: counted[name] for name in counted if name in COLUMNS}
        row["backend"] = facts.link.backend
    for when in ("before", "after"):
        measured = getattr(facts.link, when, None)
        for name in case.link.quantities if measured is not None else ():
            row[measured_column(name, when)] = getattr(measured, name)
    yield row
