"""Parses output of PerfTest: a line for each second and a summary as text, or the lines as CSV.

Text is its standard output in the format ``default``; CSV is its ``--output-file``.  Rates are in
msg/s since the previous line, truncated to whole numbers from 10 on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf.study.tables.given import MIB, text_of
from mqperf_imported.study.contradictions import LONGEST_S

SUFFIXES = (".log", ".txt", ".csv")
"""Suffixes of files that may be PerfTest's; others are not opened."""

LIMIT_BYTES = 64 * MIB
HEAD = 4000
"""Characters from the beginning that include the first line of figures."""

LINE = re.compile(r"^id: (?P<id>.*?), time (?P<end>\d+\.\d+) s, (?P<rest>.*)$", re.MULTILINE)
RATE = re.compile(r"\b(sent|confirmed|received): (\d+(?:\.\d+)?) msg/s")
SUMMED = re.compile(r"\b(sending|receiving) rate avg: (\d+(?:\.\d+)?) msg/s")
LATENCY = re.compile(r"\b(consumer|confirm) latency:? (?:min\S* )?(\d+(?:/\d+){4,5}) (µs|ms)")
WORKER = re.compile(r"starting (producer|consumer) #\d+, channel #\d+")
COMPACT = re.compile(r"^time +sent ", re.MULTILINE)
CSV = "id,time (s),published (msg/s)"

UNITS = {"µs": 1e-6, "ms": 1e-3}
LEVELS = ("min", "median", "75th", "95th", "99th", "max")
PLACES = {"sent": 2, "confirmed": 4, "received": 6}
"""Columns of the rates in the CSV; latencies follow, the consumers' first."""

FIRST_LATENCY, EACH = 7, 5
WIDTH = FIRST_LATENCY + 2 * EACH

Latency = Mapping[str, float]
"""Seconds by the name of a level, all from PerfTest's sample of messages."""


@dataclass(frozen=True, slots=True)
class Line:
    """Rates from the previous line to ``end_s``, by stream, and latencies by kind."""

    end_s: float
    rates: Mapping[str, float]
    latencies: Mapping[str, Latency]


@dataclass(frozen=True, slots=True)
class Output:
    """All lines of one run; ``rates`` and ``latencies`` are of its summary, empty in CSV.

    ``producers`` and ``consumers`` are counted by the messages of their start; 0 in CSV.
    """

    lines: Sequence[Line]
    rates: Mapping[str, float] = field(default_factory=dict)
    latencies: Mapping[str, Latency] = field(default_factory=dict)
    producers: int = 0
    consumers: int = 0


def is_perftest(path: Path) -> bool:
    """Whether a file has lines of PerfTest."""
    if path.suffix not in SUFFIXES or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        head = file.read(HEAD)
    return any(sign in head for sign in (CSV, ", channel #")) or LINE.search(head) is not None


def read_output(file: Path) -> Output:
    """Parse a file; raises ``TableError`` if it is damaged, or has lines of several runs."""
    text = text_of(file, file, LIMIT_BYTES)
    output = _of_csv(file, text) if text.startswith(CSV) else _of_text(file, text)
    ends = [line.end_s for line in output.lines]
    if not all(0 < end <= LONGEST_S for end in ends):
        raise TableError(f"{file}: its times are not those of a run of a week or less")
    if ends != sorted(set(ends)):
        raise TableError(f"{file}: its times do not rise: give a file for each run")
    if not all(0 <= rate < inf for line in output.lines for rate in line.rates.values()):
        raise TableError(f"{file}: has an invalid rate")
    if len(ends) < 3:
        raise TableError(f"{file}: has {len(ends)} lines with rates: a run takes three or more")
    return output


def _of_text(file: Path, text: str) -> Output:
    if COMPACT.search(text):
        raise TableError(
            f"{file}: is in PerfTest's compact format: run it with --metrics-format default, or"
            " give the file of --output-file"
        )
    matches = [*LINE.finditer(text)]
    if len({match["id"] for match in matches}) > 1:
        raise TableError(f"{file}: has lines of several ids: give a file for each run")
    lines = [
        Line(float(match["end"]), dict(_rates(match["rest"])), dict(_latencies(match["rest"])))
        for match in matches
    ]
    workers = WORKER.findall(text)
    summary = text[matches[-1].end() :] if matches else ""
    names = {"sending": "sent", "receiving": "received"}
    return Output(
        lines,
        {names[name]: float(rate) for name, rate in SUMMED.findall(summary)},
        dict(_latencies(summary)),
        workers.count("producer"),
        workers.count("consumer"),
    )


def _rates(text: str) -> Iterator[tuple[str, float]]:
    for name, rate in RATE.findall(text):
        yield name, float(rate)


def _latencies(text: str) -> Iterator[tuple[str, Latency]]:
    for name, values, unit in LATENCY.findall(text):
        seconds = (int(value) * UNITS[unit] for value in values.split("/"))
        yield name, dict(zip(LEVELS, seconds, strict=False))


def _of_csv(file: Path, text: str) -> Output:
    heading, *rows = text.splitlines()
    unit = UNITS["ms" if "(ms)" in heading else "µs"]
    cells = [row.split(",") for row in rows]
    if len({row[0] for row in cells}) > 1:
        raise TableError(f"{file}: has lines of several ids: give a file for each run")
    return Output([_row(f"{file}:{number}", row, unit) for number, row in enumerate(cells, 2)])


def _row(source: str, cells: Sequence[str], unit: float) -> Line:
    try:
        rates = {name: float(cells[at]) for name, at in PLACES.items() if cells[at]}
        latencies = {}
        for start, name in ((FIRST_LATENCY, "consumer"), (FIRST_LATENCY + EACH, "confirm")):
            if values := [int(cell) * unit for cell in cells[start : start + EACH] if cell]:
                latencies[name] = dict(zip(LEVELS[:EACH], values, strict=True))
        return Line(float(cells[1]), rates, latencies)
    except (ValueError, IndexError):
        raise TableError(f"{source}: is no line of PerfTest's --output-file") from None
