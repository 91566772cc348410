"""Links: whether they were as planned, before the load, after it and during it."""

from collections.abc import Iterator

import pandas as pd
from scipy import special

from mqperf.plan import statistically_known, tolerances
from mqperf.plan.columns import LINK, Column, measured_column
from mqperf.study.stats.rules.finding import Finding, Row, each
from mqperf.study.tables import Tables

CHANCE = 1e-6
"""Probability of a number of lost packets below which it contradicts the planned share."""

LOSSY = 0.5
"""Loss share above which delay probes may all be lost; any loss with a limited bandwidth."""

WHENS = ("before", "after")


def link_not_as_asked(tables: Tables) -> Iterator[Finding]:
    """Links with another delay, jitter, loss or bandwidth than the plan asks for, or with none."""
    for row in each(tables["links"]):
        faults = [*_unmeasured(row), *(text for column in LINK for text in _unlike(row, column))]
        faults += [*_lost(row), *_dropped(row), *_late(row)]
        if pd.isna(row.backend):
            faults = ["its properties are not recorded"]
        if faults:
            between = row.between.replace(", ", " and ")
            yield Finding(row.run, f"the link between {between}: {'; '.join(faults)}")


def _unmeasured(row: Row) -> Iterator[str]:
    """Delays that were not measured, of a link that is sure to return packets."""
    if row.loss_share > (LOSSY if pd.isna(row.bandwidth_bits_s) else 0):
        return
    for when in WHENS:
        if pd.isna(getattr(row, measured_column("delay_s", when))):
            yield f"its delay {when} the load is not recorded"


def _unlike(row: Row, column: Column) -> Iterator[str]:
    """Measured values of a quantity before and after the load that differ from the planned one."""
    name, planned = column.name, getattr(row, column.name)
    if pd.isna(planned):
        return
    for when in WHENS:
        value = getattr(row, measured_column(name, when))
        if pd.notna(value) and abs(value - planned) > _tolerances(row)[name]:
            unit = column.shown or column.unit
            yield (
                f"a {column.label} of {value * column.scale:.4g} {unit} {when} the load"
                f" instead of {planned * column.scale:.4g} {unit}"
            )


def _lost(row: Row) -> Iterator[str]:
    """A number of packets lost on purpose that contradicts the binomial distribution.

    Whether packets that a closed link swallowed would have been lost on purpose is not known.
    """
    share, lost, came = row.loss_share, row.packets_lost, row.packets_came
    if pd.isna([share, lost, came, row.packets_swallowed]).any() or lost > came:
        return
    fewest = max(came - row.packets_swallowed, lost)
    at_least = special.betainc(lost, came - lost + 1, share) if lost else 1.0
    at_most = 1 - special.betainc(lost + 1, fewest - lost, share) if lost < fewest else 1.0
    if min(at_least, at_most) < CHANCE:
        yield (
            f"{lost:.0f} of {came:.0f} packets were lost, which chance does not explain at the"
            f" planned {share:.2%}"
        )


def _dropped(row: Row) -> Iterator[str]:
    """Packets dropped for want of buffer space, and counts of more packets than came."""
    counts = row.packets_came, row.packets_lost, row.packets_full, row.packets_swallowed
    if pd.isna([*counts, row.packets_unread, row.packets_left]).any():
        return
    came, lost, full, swallowed = counts
    impaired = 0 if pd.isna(row.packets_impaired) else row.packets_impaired
    if lost + full + swallowed + row.packets_left > came + impaired:
        yield f"more packets left it, or were dropped, than the {came + impaired:.0f} that entered"
    seen = came - swallowed + row.packets_unread
    no_room = row.packets_unread + (full if pd.isna(row.bandwidth_bits_s) else 0)
    if seen <= 0 or not statistically_known(row.loss_share, seen):
        return
    if (lost + no_room) / seen - row.loss_share > _tolerances(row)["loss_share"]:
        yield f"there was no room for {no_room:.0f} of {seen:.0f} packets, and {lost:.0f} were lost"


def _late(row: Row) -> Iterator[str]:
    """Packets that left later than the planned delay."""
    if not row.packets_left > 0 or pd.isna(row.packets_late_s):
        return
    late_s = row.packets_late_s / row.packets_left
    if late_s > _tolerances(row)["delay_s"]:
        yield f"packets left it {late_s * 1e3:.3g} ms late on average"


def _tolerances(row: Row) -> dict[str, float]:
    planned = {quantity.name: getattr(row, quantity.name) for quantity in LINK}
    return tolerances(
        {name: None if pd.isna(quantity) else quantity for name, quantity in planned.items()}
    )
