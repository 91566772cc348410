"""The figures of a published report, each with its meaning and its source.

Headings are those of mqperf's columns: the column with the heading ``latency, ms`` is found by the
same heading in a report.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from mqperf.base.errors import TableError
from mqperf.plan.columns import COLUMNS

DIRECT, NO_QUEUES = "direct", "none"
"""Topology and queues of a system that has no broker between client and server."""

TITLES = {"rabbitmq": "RabbitMQ", "zeromq": "ZeroMQ", "activemq": "ActiveMQ", "kafka": "Kafka"}
"""Names of systems, and their titles in reports."""

MISSING = ("", ".")
"""Figures that were not collected, as printed in the reports of 2016."""

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
LARGEST = 2**53
"""Up to here float64 represents every whole number exactly."""

SHOWN = 40
"""Characters of a cell that error messages quote."""

NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")
"""Valid names of systems and topologies, after which pages and folders are named."""

COLUMN_OF_HEADING = {
    COLUMNS[name].heading(): name
    for name in ("sent", "received", "round_trip", "lost", "throughput_msg_s", "latency_mean_s")
}
CPU_TOTAL = re.compile(r"(?P<process>.+) CPU(?: consumption)?, %")
CPU_NODE = re.compile(r"(?P<process>.+) (?P<part>total|sys), %")


@dataclass(frozen=True, slots=True)
class Key:
    """The point of a sweep to which a row of a report belongs."""

    system: str
    topology: str
    queues: str
    test_case: str
    threads: int

    @property
    def point(self) -> str:
        """Id of the point."""
        return f"{self.system}-{self.topology}-{self.queues}-{self.test_case}-t{self.threads:04d}"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a column of a report: the column of mqperf's tables.

    ``process`` and ``kind`` are those of the table ``cpu``; the kind ``total`` is the sum over all
    nodes as printed in the report.
    """

    column: str
    process: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure in stored units, ``None`` if it is missing; ``source`` is file:line."""

    key: Key
    meaning: Meaning
    value: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Remark:
    """An inconsistency in the text of a report."""

    kind: str
    text: str
    source: str
    system: str
    topology: str
    queues: str
    test_case: str | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Top:
    """The best throughput of a sweep, rounded, from an overview; the key's threads are 0."""

    key: Key
    throughput_msg_s: float
    source: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that was read from one file; ``facts`` are columns of the table ``runs``."""

    cells: tuple[Cell, ...] = ()
    tops: tuple[Top, ...] = ()
    remarks: tuple[Remark, ...] = ()
    facts: Mapping[str, str | int] = field(default_factory=dict)


def meaning(heading: str) -> Meaning | None:
    """Return the meaning of the column with this heading; None for an unknown heading."""
    if heading in COLUMN_OF_HEADING:
        return Meaning(COLUMN_OF_HEADING[heading])
    if node := CPU_NODE.fullmatch(heading):
        return Meaning(f"{node['part']}_cores", node["process"], "broker")
    if total := CPU_TOTAL.fullmatch(heading):
        return Meaning("total_cores", total["process"], "total")
    return None


def value(text: str, column: str, source: str) -> float | None:
    """Return the figure in stored units, exactly; None if it is missing in the report.

    Raises ``TableError`` for text, fractional counts, and negative values of positive columns.
    """
    if text in MISSING:
        return None
    target = COLUMNS[column]
    if not NUMBER.fullmatch(text):
        raise TableError(f"{source}: {text[:SHOWN]!r} is not a number; expected {target.heading()}")
    number = Decimal(text)
    if abs(number) > LARGEST:
        raise TableError(
            f"{source}: {text[:SHOWN]}... is larger than {LARGEST}; expected {target.heading()}"
        )
    if target.dtype == "Int64" and number != number.to_integral_value():
        raise TableError(f"{source}: {text} is not whole; expected {target.heading()}")
    if target.check != "any" and number < 0:
        raise TableError(f"{source}: {text} must not be negative; expected {target.heading()}")
    return float(number / Decimal(str(target.scale)))


def thread_count(text: str, source: str) -> int:
    """Return the number of threads; raises ``TableError`` if it is not whole, 1 to 9 digits."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        raise TableError(f"{source}: {text[:SHOWN]!r} is not a number of threads")
    return int(text)
