"""Links: whether they were what the plan asks for, before the load and after it."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from mqperf.columns import LINK, Column, measured_column
from mqperf.plan import tolerances
from mqperf.stats.rules.finding import Finding, each
from mqperf.tables import Tables


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
    wanted = {one.name: getattr(row, one.name) for one in LINK}
    off = tolerances({name: None if pd.isna(one) else one for name, one in wanted.items()})[name]
    for when in ("before", "after"):
        found = getattr(row, measured_column(name, when))
        if pd.notna(found) and abs(found - asked) > off:
            unit = column.shown or column.unit
            yield (
                f"a {column.label} of {found * column.scale:.4g} {unit} {when} the load"
                f" instead of {asked * column.scale:.4g} {unit}"
            )
