"""Make the tables of one run folder; this module defines what each number means.

Times are seconds since the start of the measured window.  Figures come from the record of every
message, be it instants or counts; the counts of the load generator itself are added for comparison.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from mqperf.plan import PERCENTILES, Case
from mqperf.plan.columns import TABLES
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Event, Facts, Run, Whole, as_whole, read_events
from mqperf.record.outputs.diary import Happened
from mqperf.record.streams.stream import ByProcess, Latencies, Stream, Window
from mqperf.study.load import Account, account_of
from mqperf.study.probes import PROBE_READERS
from mqperf.study.tables import accounting, one_way, timeline, within_run
from mqperf.study.tables.action_phases import action_phases
from mqperf.study.tables.background import background
from mqperf.study.tables.hosts import hosts, links
from mqperf.study.tables.outages import outages
from mqperf.study.tables.percentiles import percentiles
from mqperf.study.tables.rate_steps import rate_steps
from mqperf.study.tables.run_row import run_row
from mqperf.study.tables.streams import Streams, read_streams

PHASES = ("warm-up", "window", "cool-down")

Row = dict[str, Any]


class Reading:
    """A whole run while its tables are made; what several tables need is read once and cached.

    Every attribute raises ``MqperfError`` if that part of the record is damaged.
    """

    run: Whole

    def __init__(self, run: Whole) -> None:
        """Store the run; nothing is read yet."""
        self.run = run

    @cached_property
    def events(self) -> list[Event]:
        """Events that the runner recorded."""
        return read_events(self.run.run.path)

    @cached_property
    def streams(self) -> Streams:
        """All messages."""
        return read_streams(self.run)

    @cached_property
    def account(self) -> Account:
        """Figures from the load generator's own output."""
        return account_of(self.run, self.streams.recorded)

    @cached_property
    def done(self) -> Stream:
        """The messages that count as finished."""
        return self.streams.finished(self.run.case.test_case)

    @cached_property
    def latencies(self) -> Latencies:
        """Latencies of the messages started in the window, however late they finished.

        Selecting by finish would leave out just the slowest messages while a backlog grows.
        """
        return self.done.started_in(self.run.window)

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """The table ``intervals``."""
        return intervals(self.streams.processes, self.run.load, self.run.window)

    @cached_property
    def accounts(self) -> Row:
        """The columns of ``messages`` that account for every message."""
        return accounting.accounted(self.run, self.streams)

    @cached_property
    def outages(self) -> list[Row]:
        """The table ``outages``."""
        return outages(self.run, self.done, self.events)

    def started(self, name: str) -> Latencies | None:
        """Latencies of an optional stream's messages started in the window; None without any."""
        if not self.streams.has(name):
            return None
        latencies = self.streams.together(name).started_in(self.run.window)
        return latencies if latencies.count else None


def of_run(run: Run, facts: Facts) -> dict[str, pd.DataFrame]:
    """The tables of one attempt; a failed one has rows in ``runs`` and ``events`` only.

    Rows lack the columns that identify the run, which ``keys`` gives once for all of them.  Raises
    ``MqperfError`` if any part of the record is damaged: a partial run is not used.
    """
    tables = {"runs": pd.DataFrame([run_row(run, facts)])}
    if run.status != "done":
        if facts.window is not None:
            tables["events"] = _events(run, facts, read_events(run.path, torn=True))
        return tables
    reading = Reading(as_whole(run, facts))
    events = _events(run, facts, reading.events)
    load_events = _events_of_load(reading.run, reading.account.happened)
    tables["events"] = pd.concat([events, load_events], ignore_index=True)
    last = reading.done.last()
    tables["runs"]["record"] = reading.streams.record
    tables["runs"]["drain_s"] = 0.0 if last is None else max(0.0, last - reading.run.load[1])
    tables["runs"]["warmup_found_s"] = within_run.warmup_found_s(reading.done, reading.run.steady)
    tables |= _tables_of_probes(reading.run)
    for table in TABLES.values():
        if (rows := table.rows or ROWS.get(table.name)) is not None:
            tables[table.name] = pd.DataFrame(rows(reading))
    return tables


def finished_messages(run: Run) -> tuple[Stream, Window]:
    """The messages that count as finished in a whole run, and its window.

    Raises ``MqperfError`` for an attempt that is not whole, or whose record is damaged.
    """
    reading = Reading(as_whole(run, run.facts()))
    return reading.done, reading.run.window


def keys(run: str, case: Case | None) -> Row:
    """The columns that identify the attempt and the point of a row; ``run`` is the run's id."""
    if case is None:
        return {"run": run}
    names = ("point", "system", "topology", "queues", "test_case", "threads", "repeat")
    return {"run": run, **{name: getattr(case, name) for name in names}}


def _events(run: Run, facts: Facts, events: Sequence[Event]) -> pd.DataFrame:
    """Rows of the table ``events``: those of the runner, then those of probes."""
    if facts.window is None:
        return pd.DataFrame()
    begin = facts.window.start
    rows: list[Mapping[str, Any]] = [
        {
            "time_s": event.epoch - begin,
            "host": event.host,
            "what": event.what,
            "detail": json.dumps(event.detail) if event.detail else None,
        }
        for event in events
    ]
    for probe in PROBE_READERS.values():
        for row in probe.events(run.path, facts):
            epoch = row["time_s"]
            ahead_s = 0.0 if epoch is None else facts.clock(row["host"]).offset_s
            rows.append(row if epoch is None else {**row, "time_s": epoch - ahead_s - begin})
    return pd.DataFrame(rows)


def _events_of_load(run: Whole, happened: Sequence[Happened]) -> pd.DataFrame:
    """Rows of the table ``events`` from processes of the load."""
    begin = run.window[0]
    return pd.DataFrame(
        {
            "time_s": note.time - run.clock(host := run.host_of(note.label)).offset_s - begin,
            "host": host,
            "what": note.what,
            "detail": json.dumps({"process": note.label, **note.detail}),
        }
        for note in happened
    )


def _tables_of_probes(run: Whole) -> dict[str, pd.DataFrame]:
    """The rows that probes recorded, by table, in the order of the probes."""
    frames: dict[str, list[pd.DataFrame]] = {}
    for probe in PROBE_READERS.values():
        for table, rows in probe.read(run).items():
            if len(rows):
                frames.setdefault(table, []).append(rows)
    return {table: pd.concat(group, ignore_index=True) for table, group in frames.items()}


def _messages(reading: Reading) -> Iterator[Row]:
    """The row of ``messages``: their number, outcomes and rates."""
    window, streams = reading.run.window, reading.streams
    case = TEST_CASES[reading.run.case.test_case]
    per_second, sent = reading.done.per_second(window), streams.together("sent")
    length = window[1] - window[0]
    row: Row = {
        "sent": sent.count,
        "received": streams.received,
        "round_trip": reading.done.count if case.replies else None,
        "errors": streams.together("error").count,
        "throughput_msg_s": per_second.sum() / length,
        "send_rate_msg_s": sent.per_second(window).sum() / length,
        "offered_rate_msg_s": reading.account.offered_msg_s,
        "throughput_sd_msg_s": per_second.std(ddof=1) if len(per_second) > 1 else None,
        "published_throughput_msg_s": reading.account.throughput_msg_s,
        **within_run.throughput_interval(per_second),
        **reading.accounts,
        "disagreements": "; ".join(_disagreements(reading)) or None,
    }
    if (delay := reading.started("handover")) is not None:
        row |= within_run.quantiles("handover", delay, ["p99"]) | {"handover_max_s": delay.max_s}
    yield row


def _disagreements(reading: Reading) -> Iterator[str]:
    """Contradictions between independent records of the run."""
    duplicates, foreign = reading.accounts["duplicates"], reading.accounts["foreign"]
    yield from reading.account.disagreements
    yield from one_way.disagreements(reading.run, reading.streams, duplicates, foreign)
    yield from accounting.drained(reading.streams, reading.events)
    yield from timeline.disagreements(reading.run, reading.events)
    for probe in PROBE_READERS.values():
        yield from probe.contradictions(reading)


def _latency(reading: Reading) -> Iterator[Row]:
    """The row of ``latency``, of the messages started in the window."""
    case, latencies = TEST_CASES[reading.run.case.test_case], reading.latencies
    row: Row = {
        "stream": case.finish.latency,
        "samples": latencies.count,
        "latency_uncertainty_s": 0.0 if case.replies else reading.streams.uncertainty_s,
        "published_latency_s": reading.account.latency_mean_s,
    }
    if latencies.count:
        figures = within_run.latency_figures(latencies)
        estimates = {name: figures[name] for name in PERCENTILES}
        row |= figures | within_run.latency_intervals(latencies, reading.run.window, estimates)
    for name, label in (("service", "service"), ("confirmed", "confirm")):
        if (part := reading.started(name)) is not None:
            row |= within_run.quantiles(label, part, ["p50", "p99"])
    yield row


def intervals(processes: ByProcess, load: Window, window: Window) -> pd.DataFrame:
    """Counts and latencies by second of finish; by second of start for the stream ``sent``."""
    names = [(label, name) for label, streams in processes.items() for name in streams]
    by_second = [processes[label][name].by_finish(load) for label, name in names]
    seconds = round(load[1] - load[0])
    start_s = np.tile(np.arange(seconds) - (window[0] - load[0]), len(by_second))
    phase = np.searchsorted([0.0, window[1] - window[0]], start_s, side="right")
    return pd.DataFrame(
        {
            "process": np.repeat([label for label, _ in names], seconds),
            "stream": np.repeat([name.replace("_", "-") for _, name in names], seconds),
            "start_s": start_s,
            "phase": np.array(PHASES)[phase],
            "count": np.concatenate([stream.count for stream in by_second]),
            "latency_mean_s": np.concatenate([stream.latency_mean_s for stream in by_second]),
            "latency_max_s": np.concatenate([stream.latency_max_s for stream in by_second]),
        }
    )


ROWS: Mapping[str, Callable[[Reading], Any]] = {
    "messages": _messages,
    "latency": _latency,
    "percentiles": lambda reading: percentiles(
        TEST_CASES[reading.run.case.test_case].finish.latency, reading.latencies
    ),
    "intervals": lambda reading: reading.intervals,
    "outages": lambda reading: reading.outages,
    "action_phases": lambda reading: action_phases(
        reading.run, reading.streams, reading.accounts, reading.outages
    ),
    "hosts": lambda reading: hosts(reading.run.facts, reading.events),
    "links": lambda reading: links(reading.run.case, reading.run.facts),
    "rate_steps": rate_steps,
    "background": lambda reading: background(reading.run, reading.events),
}
"""Functions that make the rows of the tables that do not depend on the generator or on probes."""
