"""Columns of the hosts of a run, and of their clocks."""

from mqperf.plan.columns.column import Column, latency, seconds, text
from mqperf.plan.columns.runs import RUNS

_AS_IN_RUNS = (
    *("os", "kernel", "cpu_model", "cores", "memory_bytes", "clock_source"),
    "tcp_congestion_control",
)


def _clock(when: str) -> tuple[Column, ...]:
    return (
        latency(
            f"clock_offset_{when}_s",
            f"How far its clock was ahead of the controller's {when} the load.",
            f"clock {when}",
        ),
        latency(
            f"clock_bound_{when}_s",
            "By how much that may be wrong: half of the fastest round trip by which it was asked.",
            f"clock {when}, ±",
        ),
    )


HOSTS = (
    text("host", "Name of the host."),
    text("roles", "What ran there: broker, client, server."),
    text(
        "machine",
        "Digest of what tells machines apart: hosts with the same one share processors and clock.",
    ),
    *(column for column in RUNS if column.name in _AS_IN_RUNS),
    text("network_cards", "Its network cards, each with driver and speed where known.", "network"),
    text(
        "clock_synchronised",
        "Whether its kernel says that another clock corrects its own.",
        "clock synchronised",
    ),
    *_clock("before"),
    *_clock("after"),
    latency(
        "clock_uncertainty_s",
        "By how much an instant of the host may be wrong by the controller's clock.",
        "clock uncertainty",
    ),
    seconds(
        "clock_between_s",
        "Most time that can lie between both comparisons of its clock: that of the whole run.",
        "time between comparisons",
    ),
)
