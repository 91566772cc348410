"""Actions: whether they happened at the planned time, and whether throughput recovered."""

from collections.abc import Iterator

from mqperf.plan.test_cases import unit_of
from mqperf.study.stats.rules.finding import Finding, each, found
from mqperf.study.tables import Tables
from mqperf.study.tables.outages import STEADY_S

LATE_S = 0.1
"""Delay from which on an action is late: usually it begins within milliseconds of its time."""

FEW = 3
"""Expected messages in ``STEADY_S`` below which 1 in 20 such times has none by chance."""


def action_late(tables: Tables) -> Iterator[Finding]:
    """Actions that began at another time than the plan asks."""
    outages = tables["outages"]
    yield from found(
        outages[(outages["began_s"] - outages["commanded_s"]).abs() > LATE_S],
        "{action} of {node} was planned for {commanded_s:.2f} s and began at {began_s:.2f} s",
        *("commanded_s", "began_s"),
    )


def pause_by_chance(tables: Tables) -> Iterator[Finding]:
    """Actions before which so few messages came that the pause may be chance."""
    outages = tables["outages"]
    yield from found(
        outages[outages["level_msg_s"] * STEADY_S < FEW],
        "before {action} of {node} throughput was {level_msg_s:.2g} a second: with so few"
        " messages, the measured pause or recovery may be chance",
        "level_msg_s",
    )


def not_recovered(tables: Tables) -> Iterator[Finding]:
    """Actions after which throughput did not recover before the load ended."""
    outages = tables["outages"]
    for row in each(outages[outages["level_msg_s"].notna() & outages["recovery_s"].isna()]):
        yield Finding(
            row.run,
            f"after {row.action} of {row.node} throughput did not recover to 90 % of the"
            f" {row.level_msg_s:.0f} {unit_of(row.test_case)}/sec before, for 3 s, until the load"
            " ended",
            {"level_msg_s": row.level_msg_s},
        )
