"""Invented tables for tests of the reading half; no broker was measured.

``tables()`` gives a complete, deterministic set shaped like a real one: throughput that saturates,
latency that grows past saturation, one busy node, three repeats, one failed attempt, and a doubt
whose text contains RST markup.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import product
from math import sin

import pandas as pd
import samples

from mqperf.plan.columns import TABLES
from mqperf.plan.test_cases import STANDARD
from mqperf.study.stats import complete
from mqperf.study.tables import Tables, conform, empty
from mqperf.study.tables.batches import read_names

NODES = ("Master", "Slave 1", "Slave 2")
PEAKS = {"rpc-call": 5_000.0, "rpc-cast": 9_000.0, "notify": 8_500.0}
DOUBT = "the report speaks of 2_100 of *2 113* messages | in `8 s`"
START = pd.Timestamp("2026-03-14T15:09:26Z")
COSTS = {"classic": 1.0, "mirrored": 0.45, "quorum": 0.6}


@dataclass(frozen=True)
class Shape:
    """How large the invented sweep is."""

    layouts: tuple[tuple[str, str], ...] = (("cmsm", "classic"), ("cs1ss2", "mirrored"))
    test_cases: tuple[str, ...] = STANDARD
    threads: tuple[int, ...] = (50, 100, 250)
    repeats: int = 3
    seconds: int = 8
    nodes: tuple[str, ...] = NODES
    system: str = "rabbitmq"
    title: str = "RabbitMQ"
    parameters: tuple[tuple[str, tuple[object, ...]], ...] = ()
    """Parameters that vary besides the threads: columns of ``runs`` and their values."""


Row = dict[str, object]


def tables(shape: Shape = Shape()) -> Tables:
    """The invented tables with ``points`` and ``doubts``; each caller gets copies."""
    return {name: frame.copy() for name, frame in _invented(shape).items()}


@cache
def _invented(shape: Shape) -> Tables:
    name = sha256(repr(shape).encode()).hexdigest()
    return samples.once(f"invented-{name}", lambda: _made(shape))


def _made(shape: Shape) -> Tables:
    keys = list(_keys(shape))
    failed, whole = keys[0] | {"run": "failed", "repeat": shape.repeats + 1}, keys
    rows: Mapping[str, list[Row]] = {
        "runs": [
            *(_run(shape, key, "done", started) for key, started in _one_by_one(shape, whole)),
            _run(shape, failed, "failed", START),
        ],
        "messages": [_messages(key) for key in whole],
        "latency": [_latency(key) for key in whole],
        "intervals": [row for key in whole for row in _intervals(shape, key)],
        "cpu": [row for key in whole for row in _cpu(shape, key)],
        "network": [_network(key) for key in whole],
        "memory": [_memory(key) for key in whole],
        "doubts": [keys[-1] | {"kind": "wording", "text": DOUBT}],
    }
    others = {name: empty(name) for name in read_names() if name not in rows}
    return complete(others | {name: _table(shape, name, records) for name, records in rows.items()})


def _table(shape: Shape, name: str, rows: list[Row]) -> pd.DataFrame:
    """The table of these rows, without parameters that are not columns of it."""
    columns = TABLES[name].with_parameters([name for name, _ in shape.parameters])
    frame = pd.DataFrame(rows)
    return conform(name, frame[[column for column in frame.columns if column in columns]])


def _keys(shape: Shape) -> Iterator[Row]:
    for topology, queues in shape.layouts:
        for case in shape.test_cases:
            for threads, *values in product(shape.threads, *(axis for _, axis in shape.parameters)):
                point = f"{shape.system}-{topology}-{queues}-{case}-t{threads:04d}"
                point += "".join(f"-{value}" for value in values)
                given = {name: v for (name, _), v in zip(shape.parameters, values, strict=True)}
                for repeat in range(1, shape.repeats + 1):
                    yield {
                        "run": f"{point}-r{repeat}",
                        "point": point,
                        "system": shape.system,
                        "topology": topology,
                        "queues": queues,
                        "test_case": case,
                        "threads": threads,
                        "repeat": repeat,
                        **given,
                    }


def _rate(key: Row) -> float:
    """Invented throughput: it saturates, queues reduce it, and repeats differ by a few per cent."""
    threads, repeat = int(str(key["threads"])), int(str(key["repeat"]))
    peak = PEAKS[str(key["test_case"])] * COSTS[str(key["queues"])]
    peak *= 1.3 if key["topology"] == "cs1ss2" else 1.0
    peak /= 1 + float(str(key.get("payload_bytes") or 0)) / 50_000
    saturating = threads / (threads + 60) * (1 - threads / 2_000)
    busy = peak * saturating * (1 + 0.02 * sin(repeat + threads))
    return threads / (threads / busy + _pause_s(key))


def _pause_s(key: Row) -> float:
    return float(str(key.get("pause_s") or 0.0))


def _one_by_one(shape: Shape, keys: list[Row]) -> Iterator[tuple[Row, pd.Timestamp]]:
    """The runs and their starts, half a minute apart; those of another system start hours later."""
    first = START if shape.system == Shape.system else START + pd.Timedelta(hours=6)
    for number, key in enumerate(keys):
        yield key, first + number * pd.Timedelta(seconds=30)


def _run(shape: Shape, key: Row, status: str, started: pd.Timestamp) -> Row:
    threads = int(str(key["threads"]))
    green_threads = threads // int(str(key["processes"])) if "processes" in key else 10
    return {
        "status": status,
        "failure": None if status == "done" else "client-1 did not report within 30 s",
        "started": started,
        "green_threads": green_threads,
        "processes": max(threads // 10, 1),
        "hosts": 1,
        "warmup_s": 1.0,
        "warmup_found_s": float(key["repeat"] == 1) + 1.0,
        "asked_s": float(shape.seconds),
        "window_s": float(shape.seconds),
        "expected": 2,
        "reported": 2,
        "system_title": shape.title,
        "system_version": "3.10.8",
        "runtime_version": "25.2.3",
        "generator_version": "17.3.0",
        "python_version": "3.11.7",
        "os": "Debian GNU/Linux 12 (bookworm)",
        "kernel": "6.18.0",
        "cpu_model": "Invented CPU @ 2.00GHz",
        "cores": 2,
        "memory_bytes": 24 * 2**30,
        "network_card": "loopback",
        "mqperf_version": "0.1.0",
        **key,
    }


def _messages(key: Row) -> Row:
    sent = round(_rate(key) * 10)
    called = key["test_case"] == "rpc-call"
    return key | {
        "sent": sent,
        "received": sent,
        "round_trip": sent if called else None,
        "errors": 0,
        "lost": 0,
        "duplicates": 0,
        "throughput_msg_s": _rate(key),
        "send_rate_msg_s": _rate(key) * 1.001,
        "throughput_sd_msg_s": _rate(key) * 0.03,
        "published_throughput_msg_s": _rate(key) * 0.99,
    }


def _latency(key: Row) -> Row:
    mean = int(str(key["threads"])) / _rate(key) - _pause_s(key)
    shares = {"p50": 0.9, "p90": 1.5, "p95": 1.9, "p99": 3.2, "p999": 6.0, "max": 11.0}
    return key | {
        "stream": "round-trip" if key["test_case"] == "rpc-call" else "one-way",
        "samples": round(_rate(key) * 8),
        "latency_mean_s": mean,
        "published_latency_s": mean * 1.01,
        **{f"latency_{name}_s": mean * share for name, share in shares.items()},
    }


def _intervals(shape: Shape, key: Row) -> Iterator[Row]:
    stream = "round-trip" if key["test_case"] == "rpc-call" else "received"
    for second in range(-1, shape.seconds):
        warm = second >= 0
        rate = _rate(key) * (1 + 0.04 * sin(3 * second + int(str(key["threads"]))))
        process = "client-1" if stream == "round-trip" else "server-1"
        times = {"start_s": float(second), "phase": "window" if warm else "warm-up"}
        counted = {"stream": stream, "count": round(rate if warm else rate / 10)}
        yield key | {"process": process} | times | counted


def _network(key: Row) -> Row:
    rate = _rate(key) * 900.0
    link = {"host": "one", "interface": "lo", "retransmitted_share": 0.0001}
    return key | link | {"sent_bytes_s": rate, "received_bytes_s": rate}


def _memory(key: Row) -> Row:
    used = {"memory_used_bytes": 3 * 2**30, "memory_available_bytes": 5 * 2**30}
    return key | used | {"host": "one", "swapped_in_bytes": 0, "swapped_out_bytes": 2**20}


def _cpu(shape: Shape, key: Row) -> Iterator[Row]:
    busy = _rate(key) / 4_000
    window = {"host": "one", "cores": 2, "scope": "window", "start_s": 0.0}
    window["end_s"] = float(shape.seconds)
    for position, node in enumerate(shape.nodes):
        total = busy if position == 0 else 0.06 + 0.01 * position
        used = {"total_cores": total, "sys_cores": total * 0.28, "rss_bytes": 90 * 2**20}
        yield key | window | {"process": node, "kind": "broker", **used}
    for process, kind in (("client-1", "client"), ("server-1", "server"), ("host", "host")):
        used = {"total_cores": busy * 0.8, "sys_cores": busy * 0.1}
        yield key | window | {"process": process, "kind": kind, **used}
