"""Metrics of a sweep for Prometheus: states of runs, the current run, and figures.

The label ``run`` is the name of a run's folder.  Figures of finished runs are those of the tables;
those of the current run are for monitoring only, like the whole live view.
"""

from collections import Counter
from collections.abc import Iterator
from math import isnan
from numbers import Real

from mqperf.front.live import Ended, Pulse
from mqperf.front.plan_words import words
from mqperf.plan import Case
from mqperf.plan.latencies import SHARES
from mqperf_live.front.exposition import TYPE, Metric, Sample, text
from mqperf_live.front.page import Document

Labels = dict[str, str]


def metrics(pulse: Pulse) -> Iterator[Metric]:
    """Yield all metrics of the current state."""
    todo, ended = [*pulse.todo], [*pulse.ended]
    yield Metric(
        "mqperf_runs",
        "gauge",
        "Runs of the sweep by state: pending, running, done or failed.",
        _states(pulse.case, todo, ended),
    )
    yield from _current_run(pulse)
    finished = {run.case.id: run for run in ended if run.figures}.values()
    yield Metric(
        "mqperf_run_throughput_per_second",
        "gauge",
        "Messages or creations a second of a finished run.",
        [
            Sample(rate, labels(run.case))
            for run in finished
            if (rate := _numbers(run).get("throughput_msg_s")) is not None
        ],
    )
    yield Metric(
        "mqperf_run_latency_seconds",
        "summary",
        "Latency of a finished run.",
        [sample for run in finished for sample in _latencies(run)],
    )


def labels(case: Case) -> Labels:
    """Return the labels of every run, with a description of its case."""
    return {
        "run": case.id,
        "system": case.system,
        "topology": case.topology,
        "queues": case.queues,
        "test_case": case.test_case,
        "threads": str(case.threads),
        "case": words(case),
    }


def _states(now: Case | None, todo: list[Case], ended: list[Ended]) -> list[Sample]:
    """Count the runs of each case by state: more than one if several plans share the case."""
    cases = {case.id: case for case in (*todo, *(run.case for run in ended))}
    states = Counter((run.case.id, "failed" if run.failed else "done") for run in ended)
    states.update((case.id, "pending") for case in todo)
    if now in todo:
        states.update({(now.id, "running"): 1, (now.id, "pending"): -1})
    return [
        Sample(float(number), {**labels(cases[name]), "state": state})
        for (name, state), number in states.items()
        if number
    ]


def _current_run(pulse: Pulse) -> Iterator[Metric]:
    """Yield the metrics of the current run, as in the live view."""
    case, scene = pulse.case, pulse.scene
    if case is None or scene is None or (beat := scene.last) is None:
        return
    rate, mean, of_case = beat.rate_msg_s, beat.one_way_s, labels(case)
    yield Metric(
        "mqperf_throughput_per_second",
        "gauge",
        "Messages or creations that servers handled in the last second.",
        [] if rate is None else [Sample(rate, of_case)],
    )
    yield Metric(
        "mqperf_latency_mean_seconds",
        "gauge",
        "Mean latency in the last second, one way or to the server.",
        [] if mean is None else [Sample(mean, {**of_case, "stream": scene.heard})],
    )
    yield Metric(
        "mqperf_cpu_cores",
        "gauge",
        "Cores in use by each process and by whole hosts.",
        [Sample(cores, {**of_case, "process": name}) for name, cores in beat.cores.items()],
    )


def _numbers(run: Ended) -> dict[str, float]:
    """Return the known figures of a run."""
    numbers = {name: float(value) for name, value in run.figures.items() if isinstance(value, Real)}
    return {name: number for name, number in numbers.items() if not isnan(number)}


def _latencies(run: Ended) -> Iterator[Sample]:
    """Yield the quantiles of a run, the sum of its latencies in seconds, and their count."""
    figures = _numbers(run)
    if not (count := figures.get("samples")):
        return
    of_case = {**labels(run.case), "stream": str(run.figures["stream"])}
    for name, share in SHARES.items():
        if (value := figures.get(f"latency_{name}_s")) is not None:
            yield Sample(value, {**of_case, "quantile": f"{share:g}"})
    yield Sample(figures["latency_mean_s"] * count, of_case, "_sum")
    yield Sample(count, of_case, "_count")


DOCUMENT = Document("metrics", TYPE, lambda pulse: text(metrics(pulse)))
