"""One run folder as tables: what each number means is written here.

Times are seconds since the start of the measured window.  Figures come from the record of every
message, be it instants or counts; what the load generator itself counted stands beside them for
comparison.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mqperf.plan import PERCENTILES, Case
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Event, Facts, Run, Whole, read_events, whole
from mqperf.record.outputs.diary import Happened
from mqperf.record.streams.stream import ByProcess, Latencies, Stream, Window
from mqperf.record.streams.telling import told_s
from mqperf.study.load import Account, account_of
from mqperf.study.probes import PROBE_READERS
from mqperf.study.tables import accounting, conservation, one_way, timeline, within_run
from mqperf.study.tables.action_phases import action_phases
from mqperf.study.tables.background import background
from mqperf.study.tables.hosts import hosts
from mqperf.study.tables.insides import insides
from mqperf.study.tables.links import links
from mqperf.study.tables.outages import outages
from mqperf.study.tables.percentiles import percentiles
from mqperf.study.tables.run_row import run_row
from mqperf.study.tables.streams import Streams, read_streams

PHASES = ("warm-up", "window", "cool-down")


def of_run(run: Run, facts: Facts) -> dict[str, pd.DataFrame]:
    """The tables of one attempt; a failed one has rows in ``runs`` and ``events`` only.

    Their rows do not say whose they are: ``keys`` does, once for all of them.  Raises
    ``MqperfError`` when any part of the record is damaged: half a run is no smaller run.
    """
    tables = {"runs": pd.DataFrame([run_row(run, facts)])}
    if run.status != "done":
        if facts.window is not None:
            tables["events"] = _events(run, facts, read_events(run.path, torn=True))
        return tables
    one = whole(run, facts)
    events = read_events(run.path)
    tables["events"] = _events(run, facts, events)
    streams = read_streams(one)
    account = account_of(one, streams.recorded)
    done = streams.finished(one.case.test_case)
    tables["runs"]["record"] = streams.record
    tables["runs"]["drain_s"] = _drain_s(done, one.load[1])
    tables["runs"]["warmup_found_s"] = within_run.warmup_found_s(done, one.steady)
    tables["events"] = pd.concat(
        [tables["events"], _noted(one, account.happened)], ignore_index=True
    )
    seconds, probed = intervals(streams.processes, one.load, one.window), _probed(one)
    finished, kind = done.started_in(one.window), TEST_CASES[one.case.test_case].finish.latency
    latency = _latency_row(kind, finished, one.window, account)
    inside = probed.get("internals", pd.DataFrame())
    mean_s = latency.get("latency_mean_s")
    accounts = accounting.accounted(one, streams)
    accounts |= {
        "disagreements": "; ".join(
            [
                *account.disagreements,
                *one_way.disagreements(one, streams, accounts["duplicates"], accounts["foreign"]),
                *accounting.drained(streams, events),
                *timeline.disagreements(one, events),
                *conservation.disagreements(inside, seconds, one, mean_s),
            ]
        )
        or None
    }
    counts = _message_row(one.case, streams, one.window, account)
    if (late := _started(streams, "handover", one.window)) is not None:
        counts |= _quantiles("handover", late, {"p99": 0.99}) | {"handover_max_s": late.max_s}
    tables["messages"] = pd.DataFrame([counts | accounts])
    for name, label in (("service", "service"), ("confirmed", "confirm")):
        if (some := _started(streams, name, one.window)) is not None:
            latency |= _quantiles(label, some, {"p50": 0.5, "p99": 0.99})
    replies = TEST_CASES[one.case.test_case].replies
    latency["latency_uncertainty_s"] = 0.0 if replies else streams.uncertainty_s
    tables["latency"] = pd.DataFrame([latency])
    tables["percentiles"] = pd.DataFrame(percentiles(kind, finished))
    tables["intervals"] = seconds
    disturbed = outages(one, done, events)
    tables["outages"] = pd.DataFrame(disturbed)
    tables["action_phases"] = pd.DataFrame(action_phases(one, streams, accounts, disturbed))
    tables["hosts"] = pd.DataFrame(hosts(facts, events))
    tables["links"] = pd.DataFrame(links(one.case, facts))
    tables["background"] = pd.DataFrame(background(one, events))
    own = {name: pd.DataFrame(rows) for name, rows in account.tables.items()}
    if len(inside):
        tables["insides"] = pd.DataFrame(insides(inside))
    return {**tables, **own, **probed}


def finished_messages(run: Run) -> tuple[Stream, Window]:
    """The messages that count as finished in a whole run, and its window.

    Raises ``MqperfError`` for an attempt that is not whole, or whose record is damaged.
    """
    one = whole(run, run.facts())
    return read_streams(one).finished(one.case.test_case), one.window


def keys(run: str, case: Case | None) -> dict[str, Any]:
    """The columns that say which attempt, of the run so named, at which point a row is of."""
    if case is None:
        return {"run": run}
    return {
        "run": run,
        "point": case.point,
        "system": case.system,
        "topology": case.topology,
        "queues": case.queues,
        "test_case": case.test_case,
        "threads": case.threads,
        "repeat": case.repeat,
    }


def _events(run: Run, facts: Facts, events: Sequence[Event]) -> pd.DataFrame:
    """Rows of the table ``events``: what the runner wrote down, then what probes found."""
    if facts.window is None:
        return pd.DataFrame()
    begin = facts.window.start
    rows = [
        {
            "time_s": event.epoch - begin,
            "host": event.host,
            "what": event.what,
            "detail": json.dumps(event.detail) if event.detail else None,
        }
        for event in events
    ]
    for probe in PROBE_READERS.values():
        rows += [_by_clock(row, facts, begin) for row in probe.events(run.path, facts)]
    return pd.DataFrame(rows)


def _noted(run: Whole, happened: Sequence[Happened]) -> pd.DataFrame:
    """Rows of the same table: what processes of the load noted."""
    begin = run.window[0]
    return pd.DataFrame(
        {
            "time_s": one.time - run.clock(host := run.host_of(one.label)).offset_s - begin,
            "host": host,
            "what": one.what,
            "detail": json.dumps({"process": one.label, **one.detail}),
        }
        for one in happened
    )


def _by_clock(row: Mapping[str, Any], facts: Facts, begin: float) -> dict[str, Any]:
    """What a probe found, its instant by the controller's clock and since the window's start."""
    if row["time_s"] is None:
        return dict(row)
    return {**row, "time_s": row["time_s"] - facts.clock(row["host"]).offset_s - begin}


def _probed(run: Whole) -> dict[str, pd.DataFrame]:
    """What the probes recorded, table by table, in the order of the probes."""
    found: dict[str, list[pd.DataFrame]] = {}
    for probe in PROBE_READERS.values():
        for table, rows in probe.read(run).items():
            found.setdefault(table, []).append(rows)
    filled = {table: [rows for rows in parts if len(rows)] for table, parts in found.items()}
    return {table: pd.concat(p, ignore_index=True) for table, p in filled.items() if p}


def _drain_s(finished: Stream, load_end: float) -> float:
    """Seconds from the end of the load until the last message was finished."""
    last = finished.last()
    return 0.0 if last is None else max(0.0, last - load_end)


def _message_row(case: Case, streams: Streams, window: Window, account: Account) -> dict[str, Any]:
    done, sent = streams.finished(case.test_case), streams.together("sent")
    per_second = done.per_second(window)
    length = window[1] - window[0]
    return {
        "sent": sent.count,
        "received": streams.received,
        "round_trip": done.count if TEST_CASES[case.test_case].replies else None,
        "errors": streams.together("error").count,
        "throughput_msg_s": per_second.sum() / length,
        "send_rate_msg_s": sent.per_second(window).sum() / length,
        "offered_rate_msg_s": account.offered_msg_s,
        "throughput_sd_msg_s": per_second.std(ddof=1) if len(per_second) > 1 else None,
        "published_throughput_msg_s": account.throughput_msg_s,
        **within_run.throughput_interval(per_second),
    }


def _latency_row(
    stream: str, latencies: Latencies, window: Window, account: Account
) -> dict[str, Any]:
    """Latency of the messages started in the window, however late they finished.

    Those finished in the window would leave out just the slowest ones when a backlog grows.
    """
    row: dict[str, Any] = {
        "stream": stream,
        "samples": latencies.count,
        "published_latency_s": account.latency_mean_s,
    }
    if latencies.count:
        figures = within_run.latency_figures(latencies)
        estimates = {name: figures[name] for name in PERCENTILES}
        row |= figures | within_run.latency_intervals(latencies, window, estimates)
    return row


def _started(streams: Streams, name: str, window: Window) -> Latencies | None:
    """Of a stream that not every run has, what was started in the window; None for nothing."""
    found = streams.together(name).started_in(window) if streams.has(name) else None
    return found if found is not None and found.count else None


def _quantiles(label: str, some: Latencies, levels: Mapping[str, float]) -> dict[str, float]:
    """Columns of that label, one for each level; empty where too few messages tell it."""
    columns = [f"{label}_{end}_s" for end in levels]
    return dict(zip(columns, told_s(some, list(levels.values())), strict=True))


def intervals(processes: ByProcess, load: Window, window: Window) -> pd.DataFrame:
    """Counts and latencies by the second in which a message finished (or, sent, was started)."""
    names = [(label, name) for label, named in processes.items() for name in named]
    parts = [processes[label][name].by_finish(load) for label, name in names]
    seconds = round(load[1] - load[0])
    start_s = np.tile(np.arange(seconds) - (window[0] - load[0]), len(parts))
    phase = np.searchsorted([0.0, window[1] - window[0]], start_s, side="right")
    return pd.DataFrame(
        {
            "process": np.repeat([label for label, _ in names], seconds),
            "stream": np.repeat([name.replace("_", "-") for _, name in names], seconds),
            "start_s": start_s,
            "phase": np.array(PHASES)[phase],
            "count": np.concatenate([part.count for part in parts]),
            "latency_mean_s": np.concatenate([part.latency_mean_s for part in parts]),
            "latency_max_s": np.concatenate([part.latency_max_s for part in parts]),
        }
    )
