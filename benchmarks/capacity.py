"""Predictions compared with held-out measurements.

    ./noxw -s benchmarks -- capacity [FOLDER [SYSTEM...]]

Measures what messages cost the systems of ``capacity.yaml`` at low rates and at full load, predicts
other rates, threads, bodies and quotas, and then measures these.  Prints both for every held-out
run, also bad ones, the median and the 90th percentile of the relative errors, and how often the
90 % interval held.  Needs root and control groups; takes about seven minutes a system.  The runs
are kept in FOLDER, if given, and those that it already has are not measured again.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

import mqperf
from mqperf.base.errors import MqperfError
from mqperf.study import stats, tables
from mqperf_capacity.plan.quotas import Quotas
from mqperf_capacity.study.demands import demands
from mqperf_capacity.study.points import CLIENTS, HOST, SERVERS, Model, models
from mqperf_capacity.study.predictions import Asked, Scenario
from mqperf_capacity.study.regression import interval

SYSTEMS = Path(__file__).with_suffix(".yaml")

SUSTAINED, CPU, P50, P99 = "sustained, msg/s", "broker, cores", "p50, ms", "p99, ms"
KEEPS_UP = 0.95


def main(arguments: list[str]) -> None:
    """Measure, predict, measure again, compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(arguments[0] if arguments else name)
        chosen = yaml.safe_load(SYSTEMS.read_text())
        if unknown := {*arguments[1:]} - {*chosen}:
            sys.exit(f"no system {unknown.pop()!r}; there are: {'; '.join(chosen)}")
        rows = pd.DataFrame(
            [
                {"system": system, **row}
                for system in arguments[1:] or chosen
                for row in _of_system(chosen[system], folder / system)
            ]
        )
    if rows.empty:
        return
    print(rows.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    print()
    for keys in ("figure", ["system", "figure"]):
        groups = rows.groupby(keys, sort=False)
        print(groups.apply(_summary).to_string(), end="\n\n")


def _of_system(config: Mapping[str, Any], folder: Path) -> Iterator[dict[str, object]]:
    """Yield the rows of a system; the runs to predict from are measured first."""
    low = _run(_plan(config, config["measured"], repeats=2), folder / "measured")
    [model] = models(stats.complete(tables.read(low)))
    if (why := demands(model).why_not) is not None:
        print(f"{folder.name}: no prediction: {why}")
        return
    for number, held_out in enumerate(config["held_out"]):
        yield from _compared(model, _run(_plan(config, held_out), folder / f"held-out-{number}"))


def _plan(config: Mapping[str, Any], points: Mapping[str, Any], repeats: int = 1) -> str:
    settings = {"settings": {"broker_cores": points["quota"]}}
    plan = {
        "title": "What messages cost",
        "systems": {name: layouts | settings for name, layouts in config["systems"].items()},
        "test_cases": [config["test_case"]],
        "load": {
            **config["load"],
            "green_threads": points["threads"],
            "payload_bytes": points["payloads"],
            "rate_msg_s": points["rates"],
            "duration_s": 8,
            "warmup_s": 2,
        },
        "repeats": repeats,
        "order": "random",
    }
    return str(yaml.safe_dump(plan))


def _run(text: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    plan = folder.with_suffix(".yaml")
    plan.write_text(text)
    try:
        mqperf.run(plan, folder)
    except MqperfError as error:  # the other runs are compared
        print(f"{folder.name}: {error}", flush=True)
    return folder


def _summary(rows: pd.DataFrame) -> pd.Series:
    errors = rows["error"].abs()
    return pd.Series(
        {
            "held out": len(rows),
            "error, median": f"{errors.median():.0%}",
            "error, p90": f"{errors.quantile(0.9):.0%}",
            "interval held": f"{rows['held'].mean():.0%}",
        }
    )


def _compared(known: Model, folder: Path) -> Iterator[dict[str, object]]:
    """Yield each figure of each run, as predicted from the known model and as measured."""
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
            nodes = used[~used.index.isin([CLIENTS, SERVERS, HOST])]
            node = nodes["cores"].idxmax()
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


def _row(figure: str, predicted: Sequence[float], measured: float) -> dict[str, object]:
    value, low, high = predicted
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
