"""Reads published figures from CSV: one row per point, or per point and node.

The kind of file is recognized by its columns::

    system,topology,ha,test_case,threads,sent,received,round_trip,lost
    system,topology,ha,test_case,threads,throughput,latency_ms,rabbitmq_cpu_pct,cpu_header
    system,topology,ha,test_case,threads,node,total_pct,sys_pct
    system,topology,ha,label,test_case,top_throughput

``ha`` is yes, no or n/a.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables.given import text_of
from mqperf.study.tables.published_folder import TABLE_LIMIT_BYTES
from mqperf_imported.study.cells import (
    DIRECT,
    NAME,
    NO_QUEUES,
    SHOWN,
    Cell,
    Key,
    Meaning,
    Report,
    Top,
    thread_count,
    value,
)

Row = Mapping[str, str]
Figures = Callable[[Row], Iterator[tuple[Meaning, str]]]
"""Yields the meaning of each figure of a row, and its text."""

TOPOLOGIES = {"single-host": DIRECT}
"""Topologies that have other names in the files."""

QUEUES = {"yes": "mirrored", "no": "classic", "n/a": NO_QUEUES}
POINT = ("system", "topology", "ha", "test_case", "threads")
OVERVIEW = ("system", "topology", "ha", "label", "test_case", "top_throughput")

HEADER_SHOWN = 200
"""Characters of the columns that error messages quote."""


def read(path: Path, label: str) -> Report:
    """Return all figures of a file; raises ``TableError`` for unknown columns, invalid figures."""
    columns, rows = _rows(path, label)
    if columns == OVERVIEW:
        return Report(tops=tuple(_top(row, source) for source, row in rows))
    if columns not in FORMS:
        known = "; ".join(",".join(form) for form in (*FORMS, OVERVIEW))
        raise TableError(
            f"{label}:1: the columns {','.join(columns)[:HEADER_SHOWN]} are none of those known:"
            f" {known}"
        )
    figures = FORMS[columns]
    return Report(
        tuple(
            Cell(_key(row, source), figure, value(text, figure.column, source), source)
            for source, row in rows
            for figure, text in figures(row)
        )
    )


def _rows(path: Path, label: str) -> tuple[tuple[str, ...], list[tuple[str, Row]]]:
    text = text_of(path, label, TABLE_LIMIT_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = tuple(next(reader, ()))
        rows = [(f"{label}:{reader.line_num}", cells) for cells in reader if cells]
    except csv.Error as error:
        raise TableError(f"{label}:{reader.line_num}: cannot be read as CSV: {error}") from None
    for source, cells in rows:
        if len(cells) != len(columns):
            raise TableError(f"{source}: {len(cells)} cells under {len(columns)} columns")
    return columns, [(source, dict(zip(columns, cells, strict=True))) for source, cells in rows]


def _key(row: Row, source: str) -> Key:
    if row["ha"] not in QUEUES:
        raise TableError(f"{source}: ha is {row['ha'][:SHOWN]!r}; known are: {', '.join(QUEUES)}")
    if row["test_case"] not in TEST_CASES:
        raise TableError(
            f"{source}: test_case is {row['test_case'][:SHOWN]!r};"
            f" known are: {', '.join(TEST_CASES)}"
        )
    for column in ("system", "topology"):
        if not NAME.fullmatch(row[column]):
            raise TableError(
                f"{source}: {column} is {row[column][:SHOWN]!r}; expected a name such as 'rabbitmq'"
            )
    threads = thread_count(row["threads"], source) if "threads" in row else 0
    topology = TOPOLOGIES.get(row["topology"], row["topology"])
    return Key(row["system"], topology, QUEUES[row["ha"]], row["test_case"], threads)


def _top(row: Row, source: str) -> Top:
    top = value(row["top_throughput"], "throughput_msg_s", source)
    if top is None:
        raise TableError(f"{source}: top_throughput is empty")
    return Top(_key(row, source), top, source)


def _counts(row: Row) -> Iterator[tuple[Meaning, str]]:
    for column in ("sent", "received", "round_trip", "lost"):
        yield Meaning(column), row[column]


def _throughput(row: Row) -> Iterator[tuple[Meaning, str]]:
    yield Meaning("throughput_msg_s"), row["throughput"]
    yield Meaning("latency_mean_s"), row["latency_ms"]
    if row["rabbitmq_cpu_pct"]:
        yield Meaning("total_cores", "RabbitMQ", "total"), row["rabbitmq_cpu_pct"]


def _nodes(row: Row) -> Iterator[tuple[Meaning, str]]:
    yield Meaning("total_cores", row["node"], "broker"), row["total_pct"]
    yield Meaning("sys_cores", row["node"], "broker"), row["sys_pct"]


FORMS: Mapping[tuple[str, ...], Figures] = {
    (*POINT, "sent", "received", "round_trip", "lost"): _counts,
    (*POINT, "throughput", "latency_ms", "rabbitmq_cpu_pct", "cpu_header"): _throughput,
    (*POINT, "node", "total_pct", "sys_pct"): _nodes,
}
