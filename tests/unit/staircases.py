"""Invented staircases of offered rates, as tables of runs that saturate at given rates."""

from itertools import chain

import numpy as np
import pandas as pd
from factory import Shape, tables

from mqperf.study.stats.bottleneck import bottlenecks
from mqperf.study.stats.offered_rates import saturation_rates
from mqperf.study.tables import Tables, conform, empty
from mqperf.study.tables.axes import SWEEP

Layouts = tuple[tuple[str, str], ...]

LAYOUTS = (("cmsm", "classic"), ("cmsm", "mirrored"))

CLIMB = 100 * 1.25 ** np.arange(12)
"""The rates of a staircase; each step lasts a second."""

CLASSIC, MIRRORED = (630.0, 500.0, 400.0), (320.0, 256.0, 205.0)
"""The capacities of three repeats of each kind of queue."""


def frames(repeats: int, layouts: Layouts = LAYOUTS) -> Tables:
    return tables(Shape(layouts=layouts, test_cases=("rpc-cast",), threads=(10,), repeats=repeats))


def climbed(*capacities: tuple[float, ...], layouts: Layouts = LAYOUTS) -> Tables:
    """Staircases on each layout, a repeat for each capacity, with the tables computed from them."""
    found = frames(len(capacities[0]), layouts)
    runs = (
        found["runs"].query("status == 'done'").assign(rate_msg_s=CLIMB[0], ramp_steps=len(CLIMB))
    )
    in_order = runs.sort_values(["topology", "queues", "repeat"])["run"]
    reached = dict(zip(in_order, chain(*capacities), strict=True))
    steps = pd.concat(
        pd.DataFrame(
            {
                "run": run,
                "step_rate_msg_s": CLIMB,
                "from_s": np.arange(len(CLIMB)),
                "until_s": np.arange(len(CLIMB)) + 1,
                "throughput_msg_s": CLIMB.clip(max=capacity),
                "unfinished": np.cumsum((CLIMB - capacity).clip(min=0)).round(),
                "latency_mean_s": 0.001,
                "latency_min_s": 0.001,
            }
        )
        for run, capacity in reached.items()
    )
    rate_steps = conform("rate_steps", steps.merge(runs[["run", "point", *SWEEP]], on="run"))
    rows = {"runs": runs, "rate_steps": rate_steps, "doubts": empty("doubts")}
    causes = bottlenecks({**found, **rows})
    rates = saturation_rates({**found, **rows}, causes)
    return {**found, **rows, "bottlenecks": causes, "saturation_rates": rates}
