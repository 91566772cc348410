"""Tests of Maestro as runs: rates of its workers, the receivers' latency log, properties.

A test is a folder; each worker wrote into one of its own below, where ``test.properties`` stands.
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
"""Of what workers of one test say, what must be the same."""

TEST_CASE = "transfer"
PROCESSES = {"sender": ("client", "sent"), "receiver": ("server", "received")}
"""Kind and stream of processes as runs of ours have them, by the role of a worker."""

NUMBER = re.compile("[0-9]{1,9}")
DURABLE = re.compile(r"[?&]durable=(true|false)\b")
DELIVERY = {"true": "persistent", "false": "transient"}


@dataclass(frozen=True, slots=True)
class Worker:
    """What one worker wrote; ``rates`` are by its roles."""

    folder: Path
    properties: Mapping[str, str]
    rates: Mapping[str, Rates]

    @property
    def file(self) -> Path:
        """Where its properties stand."""
        return self.folder / PROPERTIES

    def says(self, name: str) -> str:
        """The value of a property; empty where it has none."""
        return self.properties.get(name, "")

    def number(self, name: str) -> int:
        """The same as a number; raises ``TableError`` for one that is not whole."""
        text = self.says(name)
        if not NUMBER.fullmatch(text):
            raise TableError(f"{self.file}: {name} is {text!r}, not a whole number")
        return int(text)


def is_maestro(folder: Path) -> bool:
    """Whether any worker of Maestro wrote into this folder or below."""
    return any(_folders(folder, PROPERTIES))


def read(folder: Path, source: str) -> Measurement:
    """The test in this folder, called ``source``.

    Raises ``TableError`` for files that are damaged, or that are not of one test.
    """
    workers = [_worker(place) for place in sorted(_folders(folder, PROPERTIES))]
    _check_agreement(folder, workers)
    first = workers[0]
    parts = {role: [w.rates[role] for w in workers if role in w.rates] for role in ROLES}
    for role, rates in parts.items():
        if not rates:
            raise TableError(
                f"{folder}: has no rates of a {role}: give the folder of a whole test, with what"
                " all its workers wrote"
            )
    threads = first.number("parallelCount") * len(parts["sender"])
    every = [*parts["sender"], *parts["receiver"]]
    start, end = _window(folder, every)
    logs = [worker.folder / LATENCY for worker in workers if (worker.folder / LATENCY).exists()]
    intervals = [interval for log in logs for interval in read_hdr(log)]
    parameters = _parameters(first, threads)
    message = _counts(parts, start, end) | {"offered_rate_msg_s": parameters.get("rate_msg_s")}
    return Measurement(
        source=source,
        test_case=TEST_CASE,
        threads=threads,
        parameters=parameters,
        facts=_facts(folder, first, len(parts["sender"]), (start, end), zoned=every[0].zoned),
        frames={
            "messages": pd.DataFrame([message]),
            "intervals": _intervals(parts, start, end),
            **_latencies(intervals),
        },
        histograms=intervals,
    )


def _folders(folder: Path, name: str) -> Iterator[Path]:
    """The folders that hold such a file, this one and those below; links are not followed."""
    for place, _, files in os.walk(folder):
        if name in files:
            yield Path(place)


def _worker(folder: Path) -> Worker:
    by_role = {role: read_rates(folder, role) for role in ROLES}
    rates = {role: part for role, part in by_role.items() if part is not None}
    return Worker(folder, read_properties(folder / PROPERTIES), rates)


def _check_agreement(folder: Path, workers: Sequence[Worker]) -> None:
    first = workers[0]
    for worker in workers[1:]:
        for name in SAME:
            if worker.says(name) != first.says(name):
                raise TableError(
                    f"{worker.file}: {name} is {worker.says(name)!r}, in {first.file}"
                    f" {first.says(name)!r}: they are not of one test; give the folder of each"
                    f" test below {folder}"
                )


def _window(folder: Path, rates: Sequence[Rates]) -> tuple[int, int]:
    """The seconds in which all workers counted, without the first and the last of each."""
    start, end = max(part.start for part in rates) + 1, min(part.end for part in rates) - 1
    if len({part.zoned for part in rates}) > 1 or end <= start:
        raise TableError(
            f"{folder}: there is no second in which all its workers counted messages: these are"
            " several tests, or their clocks differ; give the folder of one test"
        )
    return start, end


def _parameters(worker: Worker, threads: int) -> dict[str, object]:
    parameters: dict[str, object] = {}
    if worker.says("variableSize") in ("", "0", "false") and worker.says("messageSize"):
        parameters["payload_bytes"] = worker.number("messageSize")
    if worker.says("rate") not in ("", "0"):
        parameters["rate_msg_s"] = float(worker.number("rate") * threads)
    if durable := DURABLE.search(worker.says("brokerUri")):
        parameters["delivery"] = DELIVERY[durable[1]]
    return parameters


def _facts(
    folder: Path, worker: Worker, senders: int, window: Window, *, zoned: bool
) -> dict[str, object]:
    words = [worker.says(name) for name in ("protocol", "apiName", "apiVersion")]
    facts: dict[str, object] = {
        "generator": "maestro",
        "green_threads": worker.number("parallelCount"),
        "processes": senders,
        "generator_version": " ".join(["Maestro", *filter(None, words)]),
        "window_s": window[1] - window[0],
    }
    if zoned:
        facts["started"] = pd.Timestamp(window[0], unit="s", tz="UTC")
    return facts | _inspected(folder)


def _inspected(folder: Path) -> dict[str, object]:
    """What the inspector of a test says of the system, if there was one."""
    inspectors = [read_properties(place / INSPECTOR) for place in _folders(folder, INSPECTOR)]
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


def _counts(parts: Mapping[str, Sequence[Rates]], start: int, end: int) -> dict[str, object]:
    row = throughput(together(parts["receiver"], start, end), together(parts["sender"], start, end))
    for role, (_, stream) in PROCESSES.items():
        totals = [part.total for part in parts[role]]
        if None not in totals:
            row[stream] = sum(filter(None, totals))
    return row


def _intervals(parts: Mapping[str, Sequence[Rates]], start: int, end: int) -> pd.DataFrame:
    """A row for each worker and second, also those before and after the window."""
    rows = []
    for role, (kind, stream) in PROCESSES.items():
        for number, rates in enumerate(parts[role], 1):
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
    """Tables of all latencies in the log, which are those of the whole test."""
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
    """The latencies of histograms, all together; each is the middle of its bucket."""
    whole = merged(interval.histogram for interval in intervals)
    index = np.flatnonzero(whole.counts)
    count = whole.counts[index]
    return CountedLatencies(
        counts=np.array([whole.total + whole.beyond]),
        totals=np.array([float((middle_s(index) * count).sum())]),
        largest=float(highest_ns(index[-1:]).max(initial=0)) / 1e9,
        beyond=np.array([whole.beyond]),
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
