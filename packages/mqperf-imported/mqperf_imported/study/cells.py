"""What a published report says, number by number: each with its meaning and its source.

Headings are those of the register, so a column that reads ``latency, ms`` there is found by the
same words in a report.
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
"""Systems that reports are about, as a person writes them."""

MISSING = ("", ".")
"""How the reports of 2016 print a figure that was not collected."""

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
LARGEST = 2**53
"""Up to here every whole number is a float of its own."""

SHOWN = 40
"""Characters that a message shows of what it is about."""

NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")
"""What a system or topology may be called, since pages and folders are named after them."""

NAMED = {
    COLUMNS[name].heading(): name
    for name in ("sent", "received", "round_trip", "lost", "throughput_msg_s", "latency_mean_s")
}
CPU_TOTAL = re.compile(r"(?P<process>.+) CPU(?: consumption)?, %")
CPU_NODE = re.compile(r"(?P<process>.+) (?P<part>total|sys), %")


@dataclass(frozen=True, slots=True)
class Key:
    """The point of a sweep that a row of a report is about."""

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
    """What a column of a report holds.

    ``process`` and ``kind`` are those of the table ``cpu``; the kind ``total`` is the sum over all
    nodes as the report itself prints it.
    """

    column: str
    process: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure in stored units, ``None`` where it was left out; ``source`` is file:line."""

    key: Key
    meaning: Meaning
    value: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd about a report that only its words show."""

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
    """The best throughput of a sweep as an overview rounds it; the key's threads are 0."""

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
    """What the column under this heading holds; nothing for a heading that no report has."""
    if heading in NAMED:
        return Meaning(NAMED[heading])
    if node := CPU_NODE.fullmatch(heading):
        return Meaning(f"{node['part']}_cores", node["process"], "broker")
    if total := CPU_TOTAL.fullmatch(heading):
        return Meaning("total_cores", total["process"], "total")
    return None


def value(text: str, column: str, source: str) -> float | None:
    """The figure in stored units, exactly; nothing where the report left it out.

    Raises ``TableError`` for words, for fractions of a message, for what cannot be negative.
    """
    if text in MISSING:
        return None
    wanted = COLUMNS[column]
    if not NUMBER.fullmatch(text):
        raise TableError(f"{source}: {text[:SHOWN]!r} is not a number; expected {wanted.heading()}")
    number = Decimal(text)
    if abs(number) > LARGEST:
        raise TableError(
            f"{source}: {text[:SHOWN]}... is larger than {LARGEST}; expected {wanted.heading()}"
        )
    if wanted.dtype == "Int64" and number != number.to_integral_value():
        raise TableError(f"{source}: {text} is not whole; expected {wanted.heading()}")
    if wanted.check != "any" and number < 0:
        raise TableError(f"{source}: {text} must not be negative; expected {wanted.heading()}")
    return float(number / Decimal(str(wanted.scale)))


def thread_count(text: str, source: str) -> int:
    """The number of threads; raises ``TableError`` unless it is whole, and 1 to 9 digits."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        raise TableError(f"{source}: {text[:SHOWN]!r} is not a number of threads")
    return int(text)
