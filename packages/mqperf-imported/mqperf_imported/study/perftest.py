"""Imports runs of RabbitMQ's PerfTest: the lines of its output, a second each, and its summary.

The first line is the warm-up, in which Java compiles and clients connect; the summary includes it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from mqperf.plan.test_cases import TEST_CASES
from mqperf.record.streams.telling import tells
from mqperf.study.importer import Importer, Measurement, throughput
from mqperf_imported.study.contradictions import differing, falling
from mqperf_imported.study.measured import intervals
from mqperf_imported.study.perftest_files import Latency, Output, is_perftest, read_output

TEST_CASE = "publish"
STREAM = TEST_CASES[TEST_CASE].finish.latency

PROCESSES = {"sent": "client-1", "received": "server-1"}
"""The label of a stream's process in mqperf's runs; PerfTest has one process for both."""

SHARES = {"median": 0.5, "75th": 0.75, "95th": 0.95, "99th": 0.99}
COLUMNS = {"median": "latency_p50_s", "95th": "latency_p95_s", "99th": "latency_p99_s"}
CONFIRMS = {"median": "confirm_p50_s", "99th": "confirm_p99_s"}

RESERVOIR = 1028
"""Size of PerfTest's sample of latencies, from which it computes percentiles."""

PERIOD_S = 0.5, 1.5
"""Limits of the time between lines that count a second each."""

AGREES = 0.02
"""Allowed relative difference of two figures of the same messages: rates are rounded."""

WHOLE = (
    f"its latencies are of the whole run, the warm-up included, by a sample of {RESERVOIR} messages"
    " that has more of the later ones; it tells no mean"
)
NO_SUMMARY = "its CSV has no latencies of the whole run, nor how many producers: 1 is taken"


@dataclass(frozen=True, slots=True)
class Periods:
    """Rates of a stream in periods of equal length, the first of which is the warm-up."""

    rates: np.ndarray
    length_s: float

    @property
    def window(self) -> np.ndarray:
        """The rates without the warm-up."""
        return self.rates[1:]


def read(file: Path, source: str) -> Measurement:
    """Read the run of a file, called ``source``; raises ``TableError`` if it is damaged."""
    output = read_output(file)
    streams = {
        name: _periods(output, name)
        for name in ("sent", "received")
        if any(name in line.rates for line in output.lines)
    }
    message: dict[str, object] = {"disagreements": "; ".join(_disagreements(output)) or None}
    notes = [WHOLE] if output.latencies else [NO_SUMMARY]
    copies = _copies(output)
    if received := streams.get("received"):
        sent = streams.get("sent")
        comparable = sent if copies == 1 else None
        message |= throughput(received.window, None if comparable is None else comparable.window)
        if copies > 1:
            notes.append(f"each message was delivered {copies} times, as to a queue for each")
    seconds = [
        intervals(PROCESSES[name], name, each.rates.round().astype(int))
        for name, each in streams.items()
        if _of_seconds(each)
    ]
    return Measurement(
        source=source,
        test_case=TEST_CASE,
        threads=max(1, output.producers),
        parameters={"copies": copies} if copies > 1 else {},
        facts=_facts(output),
        frames={
            "messages": pd.DataFrame([message]),
            **({"intervals": pd.concat(seconds, ignore_index=True)} if seconds else {}),
            **_latencies(output),
        },
        notes=notes,
    )


def _facts(output: Output) -> Mapping[str, object]:
    window_s = output.lines[-1].end_s - output.lines[0].end_s
    return {
        "generator": "perftest",
        "generator_version": "PerfTest",
        "green_threads": max(1, output.producers),
        "processes": 1,
        "hosts": 1,
        "window_s": round(window_s, 3),
    }


def _periods(output: Output, name: str) -> Periods:
    """Return rates in periods of the median length of a line.

    PerfTest writes no line while nothing happens: the next line's count is of its last period.
    """
    ends = [0.0, *(line.end_s for line in output.lines)]
    lengths = [end - start for start, end in pairwise(ends)]
    period = median(lengths)
    rates: list[float] = []
    for length, line in zip(lengths, output.lines, strict=True):
        silent = max(0, round(length / period) - 1)
        rates += [*[0.0] * silent, line.rates.get(name, 0.0) * (silent + 1)]
    return Periods(np.array(rates), period)


def _of_seconds(periods: Periods) -> bool:
    low, high = PERIOD_S
    return low < periods.length_s < high


def _total(output: Output, name: str) -> float:
    """Return the messages of all lines, by their rates."""
    starts = [0.0, *(line.end_s for line in output.lines)]
    return sum(
        line.rates.get(name, 0.0) * (line.end_s - start)
        for start, line in zip(starts, output.lines, strict=False)
    )


def _copies(output: Output) -> int:
    """Return the deliveries of each message if there are enough consumers for them; else 1."""
    sent, received = _total(output, "sent"), _total(output, "received")
    copies = round(received / sent) if sent else 1
    whole = abs(received - copies * sent) <= AGREES * received
    return copies if 1 < copies <= output.consumers and whole else 1


def _latencies(output: Output) -> dict[str, pd.DataFrame]:
    """Return tables of the latencies of the summary; none if there is no summary."""
    consumer = output.latencies.get("consumer")
    if not consumer:
        return {}
    count = round(_total(output, "received"))
    levels = {name for name, share in SHARES.items() if tells(min(count, RESERVOIR), share)}
    row = {
        "stream": STREAM,
        "samples": count,
        **_by_column(consumer, COLUMNS, levels),
        **_by_column(output.latencies.get("confirm", {}), CONFIRMS, levels),
        "latency_max_s": consumer.get("max"),
    }
    rows = [
        {"stream": STREAM, "samples": count, "percentile": share, "latency_s": consumer[name]}
        for name, share in SHARES.items()
        if name in levels
    ]
    return {"latency": pd.DataFrame([row]), "percentiles": pd.DataFrame(rows)}


def _by_column(latency: Latency, columns: Mapping[str, str], levels: set[str]) -> dict[str, float]:
    return {columns[name]: latency[name] for name in columns if name in levels & latency.keys()}


def _disagreements(output: Output) -> Iterator[str]:
    """Yield contradictions of lines and summary with themselves or each other."""
    for name, latency in output.latencies.items():
        yield from falling(f"{name} latency of the summary", latency)
    for line in output.lines:
        for name, latency in line.latencies.items():
            yield from falling(f"{name} latency at {line.end_s:g} s", latency)
    sent, confirmed = _total(output, "sent"), _total(output, "confirmed")
    if confirmed > sent * (1 + AGREES) + len(output.lines):
        yield f"{confirmed:.0f} messages were confirmed, {sent:.0f} sent"
    yield from _summed(output, output.lines[-1].end_s)


def _summed(output: Output, length_s: float) -> Iterator[str]:
    """Yield rates of the summary that differ from the lines; it may end up to a line later."""
    for name, rate in output.rates.items():
        rates = [line.rates.get(name, 0.0) for line in output.lines]
        edge = (max(rates) + len(rates)) / length_s
        mean = _total(output, name) / length_s
        summary, lines = ("the summary has", rate), ("its lines have", round(mean))
        yield from differing(f"{name} msg/s", summary, lines, AGREES * mean + edge)


IMPORTER = Importer(
    name="perftest",
    title="PerfTest",
    link="https://perftest.rabbitmq.com",
    known_by="its standard output or --output-file",
    holds=is_perftest,
    read=read,
)
