"""Tables of a sweep without any fault, for tests that plant one in them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pandas as pd

from mqperf.plan.columns import TABLES
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf.study.stats.doubt_kinds import CHECKS
from mqperf.study.tables import Tables

ROOT = Path(__file__).parent.parent.parent

PUBLISHED = ROOT / "data/published/2016"

Change = Mapping[str, str | float | pd.Timestamp | None]

Frames = dict[str, pd.DataFrame]

WINDOW_S = 10.0

THINK_S = 0.001

THREADS = (10, 20, 50, 100)

RATES = {10: 2000.0, 20: 3500.0, 50: 4000.0, 100: 3800.0}
"""By threads: throughput has its peak inside the sweep and obeys Little's law."""

START = pd.Timestamp("2026-03-14T15:09:26Z")

NODES = {"Master": "broker", "client-1": "client", "server-1": "server", "host": "host"}


def keys(threads: int, test_case: str, repeat: int) -> dict[str, str | float | pd.Timestamp | None]:
    point = f"{test_case}-{threads}"
    return {
        "run": f"{point}-r{repeat}",
        "point": point,
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": test_case,
        "threads": threads,
        "repeat": repeat,
    }


def one_run(position: int, threads: int, test_case: str, repeat: int) -> dict[str, list[Change]]:
    key, rate, call = keys(threads, test_case, repeat), RATES[threads], test_case == "rpc-call"
    count = int(rate * WINDOW_S)
    latency = threads / rate - THINK_S if call else 0.5 * threads / rate
    seconds = [(float(s), s + 1.0, "interval") for s in range(int(WINDOW_S))]
    used = {"Master": 1.2, "client-1": 0.5, "server-1": 0.6, "host": 2.4}
    return {
        "runs": [
            key
            | {"status": "done", "position": position, "asked_s": WINDOW_S, "window_s": WINDOW_S}
            | {"green_threads": 10, "processes": threads // 10, "hosts": 1, "control_run": 0}
            | {"expected": 2, "reported": 2, "cores": 4, "clock_offset_s": 0.0}
            | {"warmup_s": 2.0, "cooldown_s": 1.0, "content": f"{key['run']}"}
            | {"started": START + pd.Timedelta(minutes=position), "kernel": "Linux 6"}
            | {"system_version": "3.10.8", "network_card": "loopback"}
        ],
        "messages": [
            key
            | {"sent": count, "received": count, "round_trip": count if call else None}
            | {"errors": 0, "lost": 0, "duplicates": 0, "throughput_msg_s": rate}
            | {"send_rate_msg_s": rate}
        ],
        "intervals": [
            key
            | {"process": "server-1", "phase": "window", "start_s": start, "count": int(rate)}
            | {"stream": "round-trip" if call else "received"}
            for start, _, _ in seconds
        ],
        "node_summary": [
            key
            | {"node": "Master", "answers": int(WINDOW_S) + 1, "waiting_max": 30}
            | {"waiting_growth": -3, "presettled_dropped": 0}
        ],
        "memory": [
            key
            | {"host": "local", "memory_used_bytes": 2**30, "memory_available_bytes": 2**30}
            | {"swapped_in_bytes": 8192, "swapped_out_bytes": 2**24}
        ],
        "planned": [key | {"control_run": 0}],
        "latency": [
            key
            | {"stream": "round-trip" if call else "one-way"}
            | {"latency_mean_s": latency, "latency_max_s": 3 * latency}
        ],
        "cpu": [
            key
            | {"process": process, "kind": kind, "host": "local", "cores": 4, "scope": scope}
            | {"start_s": start, "end_s": end}
            | {"total_cores": used[process], "sys_cores": used[process] / 4}
            for process, kind in NODES.items()
            for start, end, scope in [*seconds, (0.0, WINDOW_S, "window")]
        ],
    }


def sound() -> Frames:
    """Tables of a sound sweep of CALL and CAST in three repeats."""
    return {name: frame.copy() for name, frame in recorded().items()}


@cache
def recorded() -> Frames:
    rows: dict[str, list[Change]] = {name: [] for name in TABLES}
    points = [(r, t, n) for r in (1, 2, 3) for t in ("rpc-call", "rpc-cast") for n in THREADS]
    for position, (repeat, test_case, threads) in enumerate(points, 1):
        for name, records in one_run(position, threads, test_case, repeat).items():
            rows[name] += records
    return {name: tables.conform(name, pd.DataFrame(records)) for name, records in rows.items()}


def planted(table: str, change: Change, where: str) -> Frames:
    """The sound sweep with some cells of one table changed."""
    frames = sound()
    hit = frames[table].index.isin(frames[table].query(where).index)
    for column, value in change.items():
        frames[table][column] = frames[table][column].mask(hit, value)
    return frames


def texts(frames: Tables) -> dict[tuple[str, str], str]:
    """The texts of all doubts, by kind of doubt and run."""
    doubts = checks.doubts(frames)
    return {(kind, run): text for kind, run, text in doubts[["kind", "run", "text"]].to_numpy()}


def found(frames: Tables) -> set[tuple[str, str]]:
    return set(texts(frames))


def texts_of(kind: str, frames: Tables) -> dict[str, str]:
    """The texts of one kind of doubt, by run; no other rule is evaluated."""
    return {finding.run: finding.text for finding in CHECKS[kind].find(frames)}


CALL = "run == 'rpc-call-100-r1'"

CAST = "run == 'rpc-cast-100-r1'"
