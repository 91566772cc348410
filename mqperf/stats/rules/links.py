"""Links: whether they were what the plan asks for, before the load and after it."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from mqperf.columns import LINK, Column, measured_column
from mqperf.stats.rules.finding import Finding, each
from mqperf.tables import Tables

OFF_SHARE = 0.02
"""Share of what was asked by which a link may differ."""

OFF: dict[str, float] = {"delay_s": 1e-3, "jitter_s": 1e-3, "loss_share": 0.01}
"""By how much it may differ besides, in the unit of the quantity."""


def link_not_as_asked(tables: Tables) -> Iterator[Finding]:
    """Links with another delay, jitter, loss or bandwidth than the plan asks for."""
    for row in each(tables["links"]):
        off = [text for column in LINK for text in _off(row, column)]
        if off:
            between = row.between.replace(", ", " and ")
            yield Finding(row.run, f"the link between {between} had {'; '.join(off)}")


def _off(row: Any, column: Column) -> Iterator[str]:  # noqa: ANN401 (a row of a frame)
    """What differs in one quantity, by when it was measured; what was not is no difference."""
    name, asked = column.name, getattr(row, column.name)
    if pd.isna(asked):
        return
    for when in ("before", "after"):
        found = getattr(row, measured_column(name, when))
        if pd.notna(found) and abs(found - asked) > OFF.get(name, 0.0) + OFF_SHARE * asked:
            unit = column.shown or column.unit
            yield (
                f"a {column.label} of {found * column.scale:.4g} {unit} {when} the load,"
                f" and {asked * column.scale:.4g} {unit} was asked for"
            )
