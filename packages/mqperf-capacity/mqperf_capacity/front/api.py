"""Predictions for notebooks, programs and the command line.

import mqperf_capacity

prediction = mqperf_capacity.predict("data/runs/capacity-quick", rate=5_000, cores=4)
prediction                  # what it sustains, what fills first, CPU and latency at the rate
prediction.predictions      # a table: a row for each role
prediction.demands          # a table: what a message costs each role
prediction.broken           # a table: where something that is not CPU limits
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd
from typing_extensions import override

from mqperf.base.errors import MqperfError
from mqperf.base.one_line import printable
from mqperf.front.api import StrPath
from mqperf.pages import notebook
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study import stats, tables
from mqperf.study.tables import Tables, empty, of_plan
from mqperf_capacity.pages import mixes as mix_words
from mqperf_capacity.pages import words
from mqperf_capacity.study import demands as demands_of
from mqperf_capacity.study import mixes
from mqperf_capacity.study.mixes import Mix
from mqperf_capacity.study.predictions import Asked, Predicted, frames, predictions


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """What is predicted from the runs of a folder.

    ``demands``, ``predictions`` and ``broken`` (the table ``broken_assumptions``, of ``predict``
    alone) are tables, with the columns of the data dictionary.  ``results`` has a result for each
    layout, with the reason if it was refused; ``text`` is all of it in words, line by line.
    """

    demands: pd.DataFrame
    predictions: pd.DataFrame
    broken: pd.DataFrame
    results: list[Predicted] | list[Mix]
    text: tuple[str, ...]

    @property
    def refused(self) -> bool:
        """Whether nothing could be predicted."""
        return all(result.refused is not None for result in self.results)

    @override
    def __repr__(self) -> str:
        return "\n".join(map(printable, self.text))

    def _repr_html_(self) -> str:
        """The text, and the table of demands."""
        return f"<pre>{escape(repr(self))}</pre>{notebook.as_html(self.demands)}"


def predict_mix(
    path: StrPath, rates: Mapping[str, float], *, cores: float | None = None
) -> Prediction:
    """Predict from a folder of runs what its layouts use for several test cases at once.

    ``rates`` are messages a second of each test case, as ``{"rpc-call": 200, "notify": 500}``;
    each was measured by itself.  ``cores`` are those of each node of the brokers.  Raises
    ``MqperfError`` for a folder that cannot be read, or has no run of any of them.
    """
    for name in rates:
        if name not in TEST_CASES:
            raise MqperfError(f"{name} is no test case; there are {', '.join(TEST_CASES)}")
    _positive({**rates, "cores": cores})
    folder, complete = _complete(path)
    results = mixes.mixes(complete, rates, cores)
    if not results:
        raise MqperfError(f"{folder}: no run of {' or '.join(rates)} is complete")
    text = (*mix_words.lines(results),)
    broken = empty("broken_assumptions")
    return Prediction(demands_of.table(complete), mixes.table(results), broken, results, text)


def predict(
    path: StrPath,
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
    _positive({"cores": cores, "rate": rate, "payload": payload, "price": price})
    folder, complete = _complete(path)
    results = predictions(complete, Asked(cores, rate, payload, price))
    if not results:
        raise MqperfError(f"{folder}: no run is complete; run its plan")
    predicted, broken = frames(results)
    demands, text = demands_of.table(complete), (*words.lines(results),)
    return Prediction(demands, predicted, broken, results, text)


def _positive(numbers: Mapping[str, float | None]) -> None:
    for name, value in numbers.items():
        if value is not None and not 0 < value < float("inf"):
            raise MqperfError(f"{name} is {value:g}: give a number above 0")


def _complete(path: StrPath) -> tuple[Path, Tables]:
    """The folder, and the complete tables of the runs that its plan asks for."""
    folder = Path(notebook.located(path))
    return folder, of_plan(stats.complete(tables.read(folder)))
