"""What Prometheus is told of a sweep: the runs, the one that is measured now, and their figures.

Runs are told apart by the names of their folders, ``run``.  Figures of finished runs are those of
the tables; those of the present run are for looking on, as the whole live view is.
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
    """All metrics of the present state."""
    todo, ended = [*pulse.todo], [*pulse.ended]
    yield Metric(
        "mqperf_runs",
        "gauge",
        "Runs of the sweep by state: pending, running, done or failed.",
        _states(pulse.case, todo, ended),
    )
    yield from _now(pulse)
    last = {run.case.id: run for run in ended if run.figures}.values()
    yield Metric(
        "mqperf_run_throughput_per_second",
        "gauge",
        "Messages or creations a second of a finished run.",
        [
            Sample(rate, labels(run.case))
            for run in last
            if (rate := _numbers(run).get("throughput_msg_s")) is not None
        ],
    )
    yield Metric(
        "mqperf_run_latency_seconds",
        "summary",
        "Latency of a finished run.",
        [sample for run in last for sample in _latencies(run)],
    )


def labels(case: Case) -> Labels:
    """What is known of every run, and the case in words."""
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
    """How many runs are in each state: one, but where several plans have the same case."""
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


def _now(pulse: Pulse) -> Iterator[Metric]:
    """What the live view shows of the run that is measured."""
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
    """The figures that there are."""
    numbers = {name: float(value) for name, value in run.figures.items() if isinstance(value, Real)}
    return {name: number for name, number in numbers.items() if not isnan(number)}


def _latencies(run: Ended) -> Iterator[Sample]:
    """Its quantiles, how many messages they are of, and the seconds that these took together."""
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
