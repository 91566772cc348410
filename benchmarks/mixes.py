"""Predictions of several test cases at once, compared with held-out measurements.

    ./noxw -s benchmarks -- mixes [FOLDER]

Measures CALL, CAST and NOTIFY through RabbitMQ, each by itself at three rates, predicts CPU and
latency of some of them at once, and then measures these: one test case, and the others as
background loads.  Prints both.  Takes about nine minutes.  The runs are kept in FOLDER, if given,
and those that it already has are not measured again.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import mqperf
import mqperf_capacity
from mqperf_capacity.study.predictions import ALL

THREADS = 10
SYSTEMS = {"rabbitmq": {"topologies": ["single"], "queues": ["classic"]}}
ALONE = [50, 150, 300]
MIXES: list[Mapping[str, float]] = [
    {"rpc-call": 100, "notify": 250},
    {"rpc-call": 250, "notify": 100},
    {"rpc-call": 150, "rpc-cast": 150},
    {"rpc-cast": 300, "notify": 300},
    {"notify": 200, "rpc-cast": 400},
    {"rpc-call": 100, "rpc-cast": 200, "notify": 200},
    {"rpc-cast": 100, "rpc-call": 200, "notify": 100},
    {"notify": 100, "rpc-call": 300},
]
"""The first of each is measured, the others are background loads."""


def main(arguments: list[str]) -> None:
    """Measure, predict, measure again, compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(arguments[0] if arguments else name)
        alone = folder / "alone"
        _run(alone, test_cases=["rpc-call", "rpc-cast", "notify"], rate=ALONE, repeats=2)
        rows = pd.DataFrame(
            [
                row
                for number, rates in enumerate(MIXES)
                for row in _compared(alone, rates, folder / f"mix-{number}")
            ]
        )
    print(rows.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    errors = rows.assign(error=rows["error"].abs()).groupby("figure", sort=False)
    print(errors[["error", "held"]].agg({"error": ["median", "max"], "held": "mean"}))


def _run(folder: Path, *, rate: Any, **plan: Any) -> mqperf.Results:  # noqa: ANN401 (of a plan)
    load = {"green_threads": THREADS, "rate_msg_s": rate, "duration_s": 8, "warmup_s": 2}
    return mqperf.run(mqperf.new_plan(systems=SYSTEMS, load=load, **plan), folder)


def _compared(alone: Path, rates: Mapping[str, float], folder: Path) -> Iterator[dict[str, object]]:
    """Yield the broker's CPU, and percentiles of the first test case, as predicted and measured."""
    predicted = mqperf_capacity.predict_mix(alone, rates).predictions
    (first, rate), *others = rates.items()
    background = [
        {"test_case": name, "green_threads": THREADS, "rate_msg_s": rate} for name, rate in others
    ]
    measured = _run(folder, test_cases=[first], rate=rate, background=background)
    cpu = measured["cpu"]
    broker = cpu["kind"].eq("broker") & cpu["scope"].eq("window")
    latency = measured["latency"].iloc[0]
    node = predicted[predicted["used_cores"].notna() & predicted["role"].ne("host")].iloc[0]
    case = predicted[predicted["role"].eq(ALL) & predicted["test_case"].eq(first)].iloc[0]
    for figure, row, name, value in (
        ("broker, cores", node, "used_cores", cpu.loc[broker, "total_cores"].sum()),
        ("p50, s", case, "p50_s", latency["latency_p50_s"]),
        ("p99, s", case, "p99_s", latency["latency_p99_s"]),
    ):
        if pd.isna(value):  # too few messages for a percentile
            continue
        yield {
            "mix": ", ".join(f"{case} {rate:g}" for case, rate in rates.items()),
            "figure": figure,
            "predicted": row[name],
            "low": row[f"{name}_low"],
            "high": row[f"{name}_high"],
            "measured": value,
            "error": row[name] / value - 1,
            "held": row[f"{name}_low"] <= value <= row[f"{name}_high"],
        }


if __name__ == "__main__":
    main(sys.argv[1:])
