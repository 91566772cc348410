"""Assembles the figures of several reports into mqperf's tables."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from mqperf.base.errors import TableError
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study import tables
from mqperf.study.tables import Tables
from mqperf_imported.study.cells import TITLES, Cell, Key, Remark, Report, Top

Row = dict[str, object]

COUNTS = ("sent", "received", "round_trip", "lost", "throughput_msg_s")
LATENCY = "latency_mean_s"
ROUNDED_TO = 100
"""Overviews give the best throughput in hundreds of messages per second."""


def assembled(reports: Sequence[Report]) -> Tables:
    """Return the tables; a run is a row of a report, named after the file and line of its counts.

    Raises ``TableError`` if two rows have the same figure of the same point.
    """
    points = _by_point(cell for report in reports for cell in report.cells)
    facts = {cell.key: report.facts for report in reports for cell in report.cells}
    keys = {key: _keys(key, cells) for key, cells in points.items()}
    tops = [top for report in reports for top in report.tops]
    remarks = [
        *(remark for report in reports for remark in report.remarks),
        *_overview_remarks(tops, points),
    ]
    rows: dict[str, list[Row]] = {
        "runs": [keys[key] | _run(key, facts[key]) for key in points],
        "messages": [keys[key] | _messages(cells) for key, cells in points.items()],
        "latency": [
            keys[key] | row for key, cells in points.items() for row in _latency(key, cells)
        ],
        "cpu": [keys[key] | row for key, cells in points.items() for row in _cpu(cells)],
        "doubts": [_doubt(remark) for remark in remarks],
    }
    return {name: tables.conform(name, pd.DataFrame(records)) for name, records in rows.items()}


def _by_point(cells: Iterable[Cell]) -> dict[Key, list[Cell]]:
    points: dict[Key, list[Cell]] = {}
    first: dict[tuple[object, ...], Cell] = {}
    for cell in cells:
        earlier = first.setdefault((cell.key, cell.meaning), cell)
        if earlier is not cell:
            raise TableError(
                f"{cell.source}: gives {cell.meaning.column} of {cell.key.point} a second time; the"
                f" first is in {earlier.source}; import only the correct one"
            )
        points.setdefault(cell.key, []).append(cell)
    return points


def _keys(key: Key, cells: Sequence[Cell]) -> Row:
    count_sources = [cell.source for cell in cells if cell.meaning.column == "sent"]
    return {
        "run": count_sources[0] if count_sources else cells[0].source,
        "point": key.point,
        "system": key.system,
        "topology": key.topology,
        "queues": key.queues,
        "test_case": key.test_case,
        "threads": key.threads,
        "repeat": 1,
    }


def _run(key: Key, facts: Mapping[str, str | int]) -> Row:
    title = TITLES.get(key.system, key.system)
    row: Row = {"status": "published", "system_title": title, **facts}
    green, hosts = row.get("green_threads"), row.get("hosts")
    if isinstance(green, int) and isinstance(hosts, int) and key.threads % (green * hosts) == 0:
        row["processes"] = key.threads // (green * hosts)
    return row


def _messages(cells: Sequence[Cell]) -> Row:
    row: Row = {c.meaning.column: c.value for c in cells if c.meaning.column in COUNTS}
    # the figure is defined as in the reports of 2016
    row["published_throughput_msg_s"] = row.get("throughput_msg_s")
    return row


def _latency(key: Key, cells: Sequence[Cell]) -> Iterator[Row]:
    stream = TEST_CASES[key.test_case].finish.latency
    for cell in cells:
        if cell.meaning.column == LATENCY:
            yield {"stream": stream, LATENCY: cell.value, "published_latency_s": cell.value}


def _cpu(cells: Sequence[Cell]) -> Iterator[Row]:
    processes: dict[str, Row] = {}
    for cell in cells:
        meaning = cell.meaning
        if meaning.process:
            row = processes.setdefault(
                meaning.process,
                {"process": meaning.process, "kind": meaning.kind, "scope": "window"},
            )
            row[meaning.column] = cell.value
    yield from processes.values()


def _doubt(remark: Remark) -> Row:
    return {
        "run": remark.source,
        "system": remark.system,
        "topology": remark.topology,
        "queues": remark.queues,
        "test_case": remark.test_case,
        "kind": remark.kind,
        "text": remark.text,
        "evidence": json.dumps(dict(remark.evidence), ensure_ascii=False),
    }


def _overview_remarks(tops: Iterable[Top], points: dict[Key, list[Cell]]) -> Iterator[Remark]:
    """Yield remarks on overviews whose best throughput differs from that of the tables."""
    for top in tops:
        rates = [
            cell.value
            for key, cells in points.items()
            for cell in cells
            if _sweep(key) == _sweep(top.key)
            and cell.meaning.column == "throughput_msg_s"
            and cell.value is not None
        ]
        if rates and abs(max(rates) - top.throughput_msg_s) >= ROUNDED_TO:
            yield Remark(
                kind="wording",
                text=f"the overview says that the best throughput is {top.throughput_msg_s:g}"
                f" msg/sec, the tables say {max(rates):g}",
                source=top.source,
                system=top.key.system,
                topology=top.key.topology,
                queues=top.key.queues,
                test_case=top.key.test_case,
            )


def _sweep(key: Key) -> tuple[str, str, str, str]:
    return key.system, key.topology, key.queues, key.test_case
