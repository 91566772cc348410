"""Imports tests of Maestro: rates of its workers, the receivers' latency logs, properties.

A test is a folder with a folder for each worker below it, which has a ``test.properties``.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mqperf.base.errors import TableError
from mqperf.onhost.record.hdr import highest_ns, middle_s
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record.streams.counted import Buckets, CountedLatencies
from mqperf.record.streams.hdr_log import Interval
from mqperf.record.streams.stream import Latencies, Window
from mqperf.study.importer import Importer, Measurement, throughput
from mqperf.study.tables import within_run
from mqperf.study.tables.percentiles import percentiles
from mqperf_imported.study.histograms import merged
from mqperf_imported.study.maestro_latency import read_hdr
from mqperf_imported.study.maestro_rates import ROLES, Rates, read_rates, together
from mqperf_imported.study.properties import read_properties

PROPERTIES, INSPECTOR, LATENCY = "test.properties", "inspector.properties", "receiverd-latency.hdr"
SAME = ("messageSize", "parallelCount", "rate", "duration", "durationType", "protocol")
"""Properties in which all workers of a test must agree."""

TEST_CASE = "transfer"
PROCESSES = {"sender": ("client", "sent"), "receiver": ("server", "received")}
"""Kind and stream of a process in mqperf's runs, by the role of a worker."""

NUMBER = re.compile("[0-9]{1,9}")
DURABLE = re.compile(r"[?&]durable=(true|false)\b")
DELIVERY = {"true": "persistent", "false": "transient"}


@dataclass(frozen=True, slots=True)
class Worker:
    """The files of one worker; ``rates`` are by its roles."""

    folder: Path
    properties: Mapping[str, str]
    rates: Mapping[str, Rates]

    @property
    def file(self) -> Path:
        """The file of its properties."""
        return self.folder / PROPERTIES

    def text(self, name: str) -> str:
        """Return the value of a property; empty if it is missing."""
        return self.properties.get(name, "")

    def number(self, name: str) -> int:
        """Return the value as a number; raises ``TableError`` if it is not whole."""
        text = self.text(name)
        if not NUMBER.fullmatch(text):
            raise TableError(f"{self.file}: {name} is {text!r}, not a whole number")
        return int(text)


def is_maestro(folder: Path) -> bool:
    """Whether this folder, or one below it, is that of a worker of Maestro."""
    return any(_folders(folder, PROPERTIES))


def read(folder: Path, source: str) -> Measurement:
    """Read the test in this folder, called ``source``.

    Raises ``TableError`` for damaged files, and for files of several tests.
    """
    workers = [_worker(subfolder) for subfolder in sorted(_folders(folder, PROPERTIES))]
    _check_agreement(folder, workers)
    first = workers[0]
    by_role = {role: [w.rates[role] for w in workers if role in w.rates] for role in ROLES}
    for role, rates in by_role.items():
        if not rates:
            raise TableError(
                f"{folder}: has no rates of a {role}: give the folder of a whole test, with what"
                " all its workers wrote"
            )
    senders, receivers = by_role["sender"], by_role["receiver"]
    threads = first.number("parallelCount") * len(senders)
    start, end = _window(folder, [*senders, *receivers])
    logs = [worker.folder / LATENCY for worker in workers if (worker.folder / LATENCY).exists()]
    intervals = [interval for log in logs for interval in read_hdr(log)]
    parameters = _parameters(first, threads)
    message = _counts(by_role, start, end) | {"offered_rate_msg_s": parameters.get("rate_msg_s")}
    return Measurement(
        source=source,
        test_case=TEST_CASE,
        threads=threads,
        parameters=parameters,
        facts=_facts(folder, first, len(senders), (start, end), zoned=senders[0].zoned),
        frames={
            "messages": pd.DataFrame([message]),
            "intervals": _intervals(by_role, start, end),
            **_latencies(intervals),
        },
        histograms=intervals,
    )


def _folders(folder: Path, name: str) -> Iterator[Path]:
    """Yield folders with such a file, from this one downwards; links are not followed."""
    for path, _, files in os.walk(folder):
        if name in files:
            yield Path(path)


def _worker(folder: Path) -> Worker:
    by_role = {role: read_rates(folder, role) for role in ROLES}
    present = {role: rates for role, rates in by_role.items() if rates is not None}
    return Worker(folder, read_properties(folder / PROPERTIES), present)


def _check_agreement(folder: Path, workers: Sequence[Worker]) -> None:
    first = workers[0]
    for worker in workers[1:]:
        for name in SAME:
            if worker.text(name) != first.text(name):
                raise TableError(
                    f"{worker.file}: {name} is {worker.text(name)!r}, in {first.file}"
                    f" {first.text(name)!r}: they are not of one test; give the folder of each"
                    f" test below {folder}"
                )


def _window(folder: Path, rates: Sequence[Rates]) -> tuple[int, int]:
    """Return the seconds in which all workers counted, without the first and last of each."""
    start, end = max(each.start for each in rates) + 1, min(each.end for each in rates) - 1
    if len({each.zoned for each in rates}) > 1 or end <= start:
        raise TableError(
            f"{folder}: there is no second in which all its workers counted messages: these are"
            " several tests, or their clocks differ; give the folder of one test"
        )
    return start, end


def _parameters(worker: Worker, threads: int) -> dict[str, object]:
    parameters: dict[str, object] = {}
    if worker.text("variableSize") in ("", "0", "false") and worker.text("messageSize"):
        parameters["payload_bytes"] = worker.number("messageSize")
    if worker.text("rate") not in ("", "0"):
        parameters["rate_msg_s"] = float(worker.number("rate") * threads)
    if durable := DURABLE.search(worker.text("brokerUri")):
        parameters["delivery"] = DELIVERY[durable[1]]
    return parameters


def _facts(
    folder: Path, worker: Worker, senders: int, window: Window, *, zoned: bool
) -> dict[str, object]:
    versions = [worker.text(name) for name in ("protocol", "apiName", "apiVersion")]
    facts: dict[str, object] = {
        "generator": "maestro",
        "green_threads": worker.number("parallelCount"),
        "processes": senders,
        "generator_version": " ".join(["Maestro", *filter(None, versions)]),
        "window_s": window[1] - window[0],
    }
    if zoned:
        facts["started"] = pd.Timestamp(window[0], unit="s", tz="UTC")
    return facts | _inspected(folder)


def _inspected(folder: Path) -> dict[str, object]:
    """Return what a test's inspector recorded of the system; nothing unless there is just one."""
    inspectors = [read_properties(path / INSPECTOR) for path in _folders(folder, INSPECTOR)]
    if len(inspectors) != 1:
        return {}
    inspector = inspectors[0]
    runtime = [inspector.get(name) for name in ("jvmName", "jvmVersion")]
    system = [inspector.get(name) for name in ("operatingSystemName", "operatingSystemVersion")]
    return {
        "system_title": inspector.get("productName"),
        "system_version": inspector.get("productVersion"),
        "runtime_version": " ".join(filter(None, runtime)) or None,
        "os": " ".join(filter(None, system)) or None,
    }


def _counts(by_role: Mapping[str, Sequence[Rates]], start: int, end: int) -> dict[str, object]:
    row = throughput(*(together(by_role[role], start, end) for role in ("receiver", "sender")))
    for role, (_, stream) in PROCESSES.items():
        totals = [rates.total for rates in by_role[role]]
        if None not in totals:
            row[stream] = sum(filter(None, totals))
    return row


def _intervals(by_role: Mapping[str, Sequence[Rates]], start: int, end: int) -> pd.DataFrame:
    """Return a row for each worker and second, also before and after the window."""
    rows = []
    for role, (kind, stream) in PROCESSES.items():
        for number, rates in enumerate(by_role[role], 1):
            second = np.arange(rates.start, rates.end)
            phase = np.searchsorted([start, end], second, side="right")
            rows.append(
                pd.DataFrame(
                    {
                        "process": f"{kind}-{number}",
                        "stream": stream,
                        "phase": np.array(["warm-up", "window", "cool-down"])[phase],
                        "start_s": (second - start).astype(float),
                        "count": rates.counts,
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)


def _latencies(intervals: Sequence[Interval]) -> dict[str, pd.DataFrame]:
    """Return the tables of all latencies in the log, which covers the whole test."""
    latencies = counted(intervals)
    if not latencies.count:
        return {}
    stream = TEST_CASES[TEST_CASE].finish.latency
    row = {"stream": stream, "samples": latencies.count, **within_run.latency_figures(latencies)}
    return {
        "latency": pd.DataFrame([row]),
        "percentiles": pd.DataFrame(percentiles(stream, latencies)),
    }


def counted(intervals: Sequence[Interval]) -> Latencies:
    """Return the latencies of all histograms together; each is the middle of its bucket."""
    histogram = merged(interval.histogram for interval in intervals)
    index = np.flatnonzero(histogram.counts)
    count = histogram.counts[index]
    return CountedLatencies(
        counts=np.array([histogram.total + histogram.beyond]),
        totals=np.array([float((middle_s(index) * count).sum())]),
        largest=float(highest_ns(index[-1:]).max(initial=0)) / 1e9,
        beyond=np.array([histogram.beyond]),
        buckets=Buckets(np.zeros(len(index), dtype=np.int64), index, count),
    )


IMPORTER = Importer(
    name="maestro",
    title="Maestro",
    link="https://github.com/maestro-performance/maestro-java",
    known_by=PROPERTIES,
    holds=is_maestro,
    read=read,
)
