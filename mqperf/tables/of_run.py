"""One run folder as tables: what each number means is written here.

Times are seconds since the start of the measured window.  Exact instants of every message come from
the simulator's shim, so no figure depends on the simulator's own one-second buckets, which starve
under load.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mqperf.errors import TableError
from mqperf.load import messages
from mqperf.load.simulator_json import Published, published_compatible
from mqperf.plan import Case
from mqperf.record import Run
from mqperf.tables import probed, within_run
from mqperf.tables.run_row import run_row
from mqperf.tables.within_run import PERCENTILES, Window

Streams = Mapping[str, Mapping[str, np.ndarray]]
"""label of a process -> name of a stream -> array of (count, columns) epoch seconds."""

PHASES = ("warm-up", "window", "cool-down")


def of_run(run: Run) -> dict[str, pd.DataFrame]:
    """The tables of one attempt; a failed one has rows in ``runs`` and ``events`` only.

    Their rows do not say whose they are: ``keys`` does, once for all of them.
    """
    facts = run.facts()
    case = run.case()
    tables = {"runs": pd.DataFrame([run_row(run, facts, case)])}
    if "window" not in facts or facts["window"] is None:
        return tables
    window = facts["window"]["start"], facts["window"]["end"]
    alarms = probed.alarms(run.path, window)
    tables["events"] = pd.DataFrame([*_events(run.path, window[0]), *alarms])
    if run.status != "done" or case is None:
        return tables
    streams = _streams(run.path, facts)
    finished = _finished(streams, case)
    published = _published(run.path, case, facts)
    load = window[0] - case.warmup_s, window[1] + case.cooldown_s
    tables["runs"]["drain_s"] = _drain_s(finished, load[1])
    tables["runs"]["warmup_found_s"] = within_run.warmup_found_s(finished, (load[0], window[1]))
    tables["messages"] = pd.DataFrame([_message_row(case, streams, window, published)])
    tables["latency"] = pd.DataFrame([_latency_row(case, finished, window, published)])
    tables["intervals"] = _intervals(streams, load, window)
    tables["cpu"] = probed.cpu(run.path, facts, window)
    tables["network"] = probed.network(run.path, window)
    return tables


def finished_messages(run: Run) -> tuple[np.ndarray, Window]:
    """Started and finished of every message that counts as done in a whole run, and its window.

    Raises ``TableError`` for an attempt that is not whole.
    """
    facts, case = run.facts(), run.case()
    if run.status != "done" or case is None:
        raise TableError(f"{run.path}: not a whole run: {facts.get('failure', run.status)}")
    window = facts["window"]["start"], facts["window"]["end"]
    return _finished(_streams(run.path, facts), case), window


def keys(run: Run) -> dict[str, Any]:
    """The columns that say which attempt at which point of the sweep a row is of."""
    case = run.case()
    if case is None:
        return {"run": run.id}
    return {
        "run": run.id,
        "point": case.point,
        "system": case.system,
        "topology": case.topology,
        "queues": case.queues,
        "test_case": case.test_case,
        "threads": case.threads,
        "repeat": case.repeat,
    }


def _events(folder: Path, begin: float) -> list[dict[str, Any]]:
    rows = []
    for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        known = {key: event.pop(key) for key in ("time", "epoch", "host", "what")}
        rows.append(
            {
                "time_s": known["epoch"] - begin,
                "host": known["host"],
                "what": known["what"],
                "detail": json.dumps(event) if event else None,
            }
        )
    return rows


def _streams(folder: Path, facts: Mapping[str, Any]) -> Streams:
    return {
        process["label"]: messages.read_messages(folder / "load" / f"{process['label']}.messages")
        for process in facts["processes"]
    }


def _together(streams: Streams, name: str) -> np.ndarray:
    """All messages of one stream over all processes; no rows when no process has the stream."""
    parts = [named[name] for named in streams.values() if name in named]
    return np.concatenate(parts) if parts else np.empty((0, 2))


def _finished(streams: Streams, case: Case) -> np.ndarray:
    """Started and finished of what counts as done: replies for CALL, else messages received."""
    return _together(streams, "round_trip" if case.test_case == "rpc-call" else "received")


def _drain_s(finished: np.ndarray, load_end: float) -> float:
    """Seconds from the end of the load until the last message was finished."""
    return max(0.0, float(finished[:, 1].max(initial=load_end)) - load_end)


def _message_row(
    case: Case, streams: Streams, window: Window, published: Published
) -> dict[str, Any]:
    finished = _finished(streams, case)
    sent, received = _together(streams, "sent")[:, 0], _together(streams, "received")[:, 0]
    errors = len(_together(streams, "error"))
    replies = len(finished) if case.test_case == "rpc-call" else None
    answered = len(received) if replies is None else replies + errors
    per_second = within_run.per_second(finished[:, 1], window)
    length = window[1] - window[0]
    return {
        "sent": len(sent),
        "received": len(received),
        "round_trip": replies,
        "errors": errors,
        "lost": len(sent) - answered,
        "duplicates": _surplus(received, sent),
        "throughput_msg_s": per_second.sum() / length,
        "send_rate_msg_s": within_run.per_second(sent, window).sum() / length,
        "throughput_sd_msg_s": per_second.std(ddof=1) if len(per_second) > 1 else None,
        "published_throughput_msg_s": published.throughput_per_s,
        **within_run.throughput_interval(per_second),
    }


def _latency_row(
    case: Case, finished: np.ndarray, window: Window, published: Published
) -> dict[str, Any]:
    """Latency of the messages started in the window, however late they finished.

    Those finished in the window would leave out just the slowest ones when a backlog grows.
    """
    inside = finished[(finished[:, 0] >= window[0]) & (finished[:, 0] < window[1])]
    latency = inside[:, 1] - inside[:, 0]
    row: dict[str, Any] = {
        "stream": "round-trip" if case.test_case == "rpc-call" else "one-way",
        "samples": len(latency),
        "published_latency_s": published.latency_mean_s,
    }
    if len(latency):
        values = np.quantile(latency, list(PERCENTILES.values()))
        estimates = dict(zip(PERCENTILES, values, strict=True))
        row |= {**estimates, "latency_mean_s": latency.mean(), "latency_max_s": latency.max()}
        row |= within_run.latency_intervals(inside, window, estimates)
    return row


def _surplus(received: np.ndarray, sent: np.ndarray) -> int:
    """How many of ``received`` are there more often than in ``sent``, as multisets."""
    received, sent = np.sort(received), np.sort(sent)
    if np.array_equal(received, sent):
        return 0
    values, counts = np.unique(received, return_counts=True)
    known = np.searchsorted(sent, values, "right") - np.searchsorted(sent, values, "left")
    return int(np.maximum(counts - known, 0).sum())


def _intervals(streams: Streams, load: Window, window: Window) -> pd.DataFrame:
    names = [(label, name) for label, named in streams.items() for name in named]
    parts = [_stream_intervals(streams[label][name], load) for label, name in names]
    seconds = round(load[1] - load[0])
    columns = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
    start_s = np.tile(np.arange(seconds) - (window[0] - load[0]), len(parts))
    phase = np.searchsorted([0.0, window[1] - window[0]], start_s, side="right")
    return pd.DataFrame(
        {
            "process": np.repeat([label for label, _ in names], seconds),
            "stream": np.repeat([name.replace("_", "-") for _, name in names], seconds),
            "start_s": start_s,
            "phase": np.array(PHASES)[phase],
            **columns,
        }
    )


def _stream_intervals(stream: np.ndarray, load: Window) -> dict[str, np.ndarray]:
    """Counts and latencies by the second in which a message finished (or, sent, was started)."""
    instants = stream[:, -1]
    counts = within_run.per_second(instants, load)
    if stream.shape[1] == 1:
        none = np.full(len(counts), np.nan)
        return {"count": counts, "latency_mean_s": none, "latency_max_s": none}
    second = np.floor(instants - load[0])
    inside = (second >= 0) & (second < len(counts))
    latency, second = (instants - stream[:, 0])[inside], second[inside].astype(np.int64)
    total = np.bincount(second, weights=latency, minlength=len(counts))
    largest = np.full(len(counts), -np.inf)
    np.maximum.at(largest, second, latency)
    some = counts > 0
    return {
        "count": counts,
        "latency_mean_s": np.divide(total, counts, where=some, out=np.full(len(total), np.nan)),
        "latency_max_s": np.where(some, largest, np.nan),
    }


def _published(folder: Path, case: Case, facts: Mapping[str, Any]) -> Published:
    """Throughput and latency by the formulas of 2016, from the simulator's own summaries."""
    files = {
        kind: [
            folder / "load" / f"{p['label']}.json" for p in facts["processes"] if p["kind"] == kind
        ]
        for kind in ("client", "server")
    }
    return published_compatible(files["client"], files["server"], case.test_case)
