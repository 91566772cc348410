"""The link of a run: what the plan asked for, and what was measured before and after the load."""

from collections.abc import Iterator
from typing import Any

from mqperf.plan import Case
from mqperf.plan.columns import measured_column
from mqperf.record import Facts


def links(case: Case, facts: Facts) -> Iterator[dict[str, Any]]:
    """The row of a run whose plan asks for a link; none of any other."""
    if case.link is None or facts.link is None:
        return
    row = {
        "between": ", ".join(case.link.between),
        "backend": facts.link.backend,
        **case.link.quantities,
    }
    for when in ("before", "after"):
        measured = getattr(facts.link, when)
        for name in case.link.quantities if measured is not None else ():
            row[measured_column(name, when)] = getattr(measured, name)
    yield row
