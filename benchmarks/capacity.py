"""Predictions held against measurements that they have not seen.

    ./noxw -s benchmarks -- capacity [MEASURED [HELD_OUT]]

Measures what messages cost at low rates and at full load, predicts other rates, threads, bodies and
quotas, and then measures these.  Prints both for every held-out run, the bad ones too, the median
and the 90th percentile of the relative errors, and how often the 90 % interval held.  Needs root
and control groups; about ten minutes.  With folders of runs it measures nothing, or the held-out
ones alone.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import mqperf
from mqperf.study import stats, tables
from mqperf_capacity.plan.quotas import Quotas
from mqperf_capacity.study.demands import demands
from mqperf_capacity.study.points import CLIENTS, HOST, SERVERS, Model, models
from mqperf_capacity.study.predictions import Asked, Scenario
from mqperf_capacity.study.regression import interval

MEASURED = """\
title: What messages cost
systems:
  rabbitmq: {topologies: [single], queues: [classic], settings: {broker_cores: 0.5}}
test_cases: [publish]
load:
  generator: amqp-0-9-1
  green_threads: 4
  payload_bytes: [256, 4096]
  rate_msg_s: [250, 1000, 2000, 40000]
  duration_s: 10
  warmup_s: 2
repeats: 2
order: random
"""

HELD_OUT = (
    "{quota: 0.5, threads: 4, payload: 256, rates: [500, 4000]}",
    "{quota: 0.5, threads: 16, payload: 1024, rates: [1500, 3000, 40000]}",
    "{quota: 0.5, threads: 8, payload: 256, rates: [1500, 40000]}",
    "{quota: 0.25, threads: 4, payload: 1024, rates: [1000, 20000]}",
    "{quota: 0.25, threads: 8, payload: 4096, rates: [500, 20000]}",
    "{quota: 0.75, threads: 4, payload: 256, rates: [2500, 60000]}",
    "{quota: 1, threads: 8, payload: 4096, rates: [1000, 5000, 60000]}",
)
"""What is predicted: the highest rate of a quota is beyond what it sustains."""

PLAN = """\
title: What was predicted
systems:
  rabbitmq: {{topologies: [single], queues: [classic], settings: {{broker_cores: {quota}}}}}
test_cases: [publish]
load:
  generator: amqp-0-9-1
  green_threads: {threads}
  payload_bytes: {payload}
  rate_msg_s: {rates}
  duration_s: 8
  warmup_s: 2
"""

SUSTAINED, CPU, P50, P99 = "sustained, msg/s", "broker, cores", "p50, ms", "p99, ms"
KEEPS_UP = 0.95


def main(arguments: list[str]) -> None:
    """Measure, predict, measure again, compare."""
    import yaml

    with tempfile.TemporaryDirectory() as name:
        low = Path(arguments[0]) if arguments else _run(MEASURED, Path(name) / "measured")
        if len(arguments) > 1:
            held = sorted(folder for folder in Path(arguments[1]).iterdir() if folder.is_dir())
        else:
            held = [
                _run(PLAN.format(**yaml.safe_load(text)), Path(name) / f"held-out-{number}")
                for number, text in enumerate(HELD_OUT)
            ]
        [model] = models(stats.complete(tables.read(low)))
        rows = pd.DataFrame([row for folder in held for row in _compared(model, folder)])
    print(rows.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    for figure, of_figure in rows.groupby("figure", sort=False):
        errors = of_figure["error"].abs()
        print(
            f"{figure}: {len(errors)} held out; relative error: median {errors.median():.0%},"
            f" p90 {errors.quantile(0.9):.0%}; 90 % interval held in {of_figure['held'].mean():.0%}"
        )


def _run(text: str, folder: Path) -> Path:
    plan = folder.with_suffix(".yaml")
    plan.write_text(text)
    mqperf.run(plan, folder)
    return folder


def _compared(known: Model, folder: Path) -> Iterator[dict[str, object]]:
    """Each figure of each run: as predicted from the known model, and as measured."""
    base = demands(known)
    for model in models(stats.complete(tables.read(folder))):
        for run in model.runs.to_dict("records"):
            used = model.used[model.used["run"] == run["run"]].set_index("role")
            quota = float(run[next(iter(Quotas.model_fields))])
            asked = Asked(cores=quota, rate=float(run["offered"]))
            scenario = Scenario(base, asked, float(run["body_bytes"]))
            where = {
                "quota": quota,
                "threads": run["threads"],
                "bytes": run["body_bytes"],
                "rate": run["offered"],
                "machine": run["machine_share"],
            }
            [node] = [role for role in used.index if role not in {CLIENTS, SERVERS, HOST}]
            bound = scenario.bound
            if run["rate"] < KEEPS_UP * run["offered"] or bound[0] < run["offered"]:
                most = np.minimum(bound[1], run["offered"])
                value = min(bound[0], run["offered"])
                yield where | _row(SUSTAINED, interval(value, most), run["rate"])
                continue
            predicted = scenario.of_role(node)
            ends = ("used_cores", "used_cores_low", "used_cores_high")
            yield where | _row(CPU, [predicted[end] for end in ends], used.loc[node, "cores"])
            latency = scenario.latency()
            for figure, name in ((P50, "p50_s"), (P99, "p99_s")):
                if name in latency and pd.notna(run[f"latency_{name}"]):
                    values = [1e3 * latency[f"{name}{end}"] for end in ("", "_low", "_high")]
                    yield where | _row(figure, values, 1e3 * run[f"latency_{name}"])


def _row(figure: str, predicted: object, measured: float) -> dict[str, object]:
    value, low, high = predicted  # type: ignore[misc]
    return {
        "figure": figure,
        "predicted": value,
        "low": low,
        "high": high,
        "measured": measured,
        "error": value / measured - 1,
        "held": low <= measured <= high,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
