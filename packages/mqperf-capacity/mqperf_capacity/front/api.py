"""Predictions for notebooks, programs and the command line.

import mqperf_capacity

prediction = mqperf_capacity.predict("data/runs/capacity-quick", rate=5_000, cores=4)
prediction                  # what it sustains, what fills first, CPU and latency at the rate
prediction.predictions      # a table: a row for each role
prediction.demands          # a table: what a message costs each role
prediction.broken           # a table: where something that is not CPU limits
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd
from typing_extensions import override

from mqperf.base.errors import MqperfError
from mqperf.base.one_line import printable
from mqperf.pages import notebook
from mqperf.study import stats, tables
from mqperf.study.tables import of_plan
from mqperf_capacity.pages import words
from mqperf_capacity.study import demands as demands_of
from mqperf_capacity.study.predictions import Asked, Predicted, frames, predictions

Place = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """What is predicted from the runs of a folder.

    ``demands``, ``predictions`` and ``broken`` (the table ``broken_assumptions``) are tables, with
    the columns of the data dictionary.  ``results`` has for each layout what was refused, and why.
    """

    demands: pd.DataFrame
    predictions: pd.DataFrame
    broken: pd.DataFrame
    results: list[Predicted]

    @property
    def refused(self) -> bool:
        """Whether nothing could be predicted."""
        return all(result.refused is not None for result in self.results)

    def lines(self) -> Iterator[str]:
        """The prediction as text."""
        return words.lines(self.results)

    @override
    def __repr__(self) -> str:
        return "\n".join(map(printable, self.lines()))

    def _repr_html_(self) -> str:
        """The words, and the demands behind them."""
        text = escape("\n".join(self.lines()))
        return f"<pre>{text}</pre>{notebook.as_html(self.demands)}"


def predict(
    path: Place,
    *,
    cores: float | None = None,
    rate: float | None = None,
    payload: float | None = None,
    price: float | None = None,
) -> Prediction:
    """Predict from a folder of runs what its layouts sustain, and what they use.

    ``cores`` are those of each node of the brokers, ``rate`` is in messages a second, ``payload``
    in bytes, ``price`` that of a core hour.  Without ``cores`` it is the machine as measured.
    Raises ``MqperfError`` for a folder that cannot be read, or has no measured run.
    """
    for name, value in {"cores": cores, "rate": rate, "payload": payload, "price": price}.items():
        if value is not None and not 0 < value < float("inf"):
            raise MqperfError(f"{name} is {value:g}: give a number above 0")
    folder = Path(notebook.located(path))
    complete = of_plan(stats.complete(tables.read(folder)))
    results = predictions(complete, Asked(cores, rate, payload, price))
    if not results:
        raise MqperfError(f"{folder}: no run of it was measured to its end; run its plan")
    predicted, broken = frames(results)
    return Prediction(demands_of.table(complete), predicted, broken, results)
