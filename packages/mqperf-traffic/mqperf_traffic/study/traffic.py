"""The table ``traffic``: how close a replay came to its profile."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mqperf.plan.columns import Column, Table, count, share
from mqperf_traffic.plan.parameters import GENERATOR
from mqperf_traffic.study.account import replay_of

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """Yield a row for a run that replays traffic, none for other runs."""
    if reading.run.case.generator != GENERATOR.name:
        return
    replay = replay_of(reading.run, reading.streams.recorded)
    yield {
        "routes": replay.routes,
        "routes_off": len(replay.missing),
        "seconds": len(replay.asked),
        "seconds_off": int(replay.off(replay.sent).sum()),
        "rate_off_share": replay.worst,
        "length_distance": replay.distance,
    }


TABLE = Table(
    "traffic",
    "a run that replays traffic, and how near it came to its profile",
    (
        count("routes", "Routes of the profile.", "routes", "routes"),
        count(
            "routes_off",
            "Routes on which the number of messages sent differs from the profile.",
            "routes off",
            "routes",
        ),
        count("seconds", "Seconds of the load.", "seconds", "s"),
        count(
            "seconds_off",
            "Seconds in which the messages that were sent differ by more than 2 % from the profile,"
            " and by more than two messages.",
            "seconds off",
            "s",
        ),
        share(
            "rate_off_share",
            "The largest difference between what was sent in a second and what the profile has, as"
            " a share of the latter.",
            "largest difference of a second",
        ),
        Column(
            "length_distance",
            "float64",
            "The largest difference between the cumulative distributions of the lengths that were"
            " received and those of the profile (Kolmogorov and Smirnov).",
            "distance of lengths",
            check="not negative",
        ),
    ),
    rows=rows,
)
