"""Invented cells of a comparison of brokers, for tests of its ranking and its page."""

from dataclasses import replace
from math import inf, nan

from mqperf_brokers.study.cells import Cell
from mqperf_brokers.study.rates import OFFERED, Sustained

CELL = Cell(
    bundle="first",
    system="rabbitmq",
    title="RabbitMQ",
    topology="single",
    queues="classic",
    test_case="publish",
    generator="amqp-0-9-1",
    given={"payload_bytes": 256, "threads": 1, "confirms": 1000},
    confirmed=True,
    release="Debian GNU/Linux 12 (bookworm)",
    machine="2 cores of an invented CPU",
    versions="RabbitMQ 3.10.8, mqperf 0.1.0",
    day="2026-11-26",
    core_speed=nan,
    sustained=Sustained(OFFERED, 1000.0, 900.0, 1100.0),
    doubts=(),
)


def cell(low: float = 900.0, high: float = 1100.0, rate: float = 0.0, **changes: object) -> Cell:
    """A cell with this interval; its rate is the middle of the interval unless given."""
    middle = rate or (low if high == inf else (low + high) / 2)
    return replace(CELL, sustained=Sustained(OFFERED, middle, low, high), **changes)  # type: ignore[arg-type]


def nats(low: float, high: float, **changes: object) -> Cell:
    """The same cell for NATS, whose parameters do not include ``confirms``."""
    given = {"payload_bytes": 256, "threads": 1}
    names = {"system": "nats", "title": "NATS", "generator": "nats", "given": given}
    return replace(cell(low, high), **{**names, **changes})  # type: ignore[arg-type]
