"""Read the simulator's own figures of a run, and compare them with the exact record."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb

import numpy as np

from mqperf.base.errors import LoadError
from mqperf.plan import RAMP, Case, offered_msg_s
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Whole
from mqperf.record.outputs import simulator as output
from mqperf.record.outputs import simulator_log as log
from mqperf.record.outputs.simulator import Output, Point, Summary
from mqperf.record.streams.stream import ByProcess, Stream
from mqperf.study.load.reader import Account, LoadReader

STREAMS = {"client": "sent", "error": "error", "round_trip": "round_trip", "server": "received"}
"""Stream of the simulator's own output -> stream of the exact record."""

SUMMARY = ("duration", "latency", "min_latency", "max_latency")
MOST_COMBINATIONS = 5_000
"""Combinations of messages that are tried to find those that the simulator did not count."""

PRECISION = 1e-9
"""Relative difference below which two sums of the same numbers are equal."""


def _offered_msg_s(case: Case) -> float | None:
    """The constant offered rate; None if there is none, or if it changes."""
    changes = case.parameters.get(RAMP) is not None
    return None if changes else offered_msg_s(case.parameters, case.threads)


def account(run: Whole, streams: ByProcess) -> Account:
    """Throughput and latency by the formulas of 2016, from the simulator's own summaries.

    Raises ``LoadError`` for output that is damaged or of another run.
    """
    outputs = _outputs(run)
    processes = [*outputs.values()]
    throughput_msg_s, latency_mean_s = output.published_compatible(
        [client.summary for client in processes if isinstance(client, output.ClientOutput)],
        [server.summary for server in processes if isinstance(server, output.ServerOutput)],
        run.case.test_case,
    )
    return Account(
        throughput_msg_s=throughput_msg_s,
        latency_mean_s=latency_mean_s,
        offered_msg_s=_offered_msg_s(run.case),
        disagreements=[
            *_log_problems(run, outputs),
            *(
                f"{label}: {problem}"
                for label, written in outputs.items()
                for name, summary in output.summaries(written).items()
                for problem in _stream_problems(
                    run, name, summary, written.points(name), streams[label][STREAMS[name]]
                )
            ),
        ],
    )


def _outputs(run: Whole) -> Mapping[str, Output]:
    """The simulator's own output, by the label of the process."""
    readers = {"client": output.read_client, "server": output.read_server}
    load = run.folder
    outputs: dict[str, Output] = {}
    for process in run.facts.processes:
        file = load / f"{process.label}.json"
        outputs[process.label] = written = readers[process.kind](file)
        has_replies = "round_trip" in output.summaries(written)
        if has_replies != (process.kind == "client" and TEST_CASES[run.case.test_case].replies):
            raise LoadError(f"{file}: not of a run of {run.case.test_case}")
    return outputs


def _log_problems(run: Whole, outputs: Mapping[str, Output]) -> Iterator[str]:
    """Yield differences between the counts in the simulator's log and in its JSON output."""
    for label, written in outputs.items():
        logged = log.counts(run.folder / f"{label}.log")
        for name, summary in output.summaries(written).items():
            if name in logged and logged[name] != summary.count:
                yield (
                    f"{label}: {name}: {summary.count} in the simulator's summary, {logged[name]}"
                    " in its log"
                )


def _stream_problems(
    run: Whole, name: str, summary: Summary, points: list[Point], exact: Stream
) -> Iterator[str]:
    """Yield differences between the summary of a process's stream, its series and the record.

    A client's thread may end before it has counted its last message.
    """
    summed = output.summed(points)
    most_uncounted = 0 if name == "server" else run.case.green_threads
    if summed.count != summary.count:
        yield f"{name}: {summary.count} in the simulator's summary, {summed.count} in its series"
    for figure in SUMMARY:
        in_summary, in_series = getattr(summary, figure), getattr(summed, figure)
        if not _same(in_summary, in_series):
            yield (
                f"{name}: {figure} {in_summary} in the simulator's summary,"
                f" {in_series} in its series"
            )
    if not exact.count - most_uncounted <= summed.count <= exact.count:
        yield f"{name}: {exact.count} messages recorded, {summed.count} counted by the simulator"
    elif summed.latency is not None and exact.timed and name != "error":
        yield from _record_problems(name, run.case.green_threads, summed, exact)


def _record_problems(name: str, threads: int, summed: Summary, exact: Stream) -> Iterator[str]:
    """Yield differences between the simulator's latencies and the record's.

    Counts do not show which messages the simulator left out: they are compared if it left out none.
    """
    from mqperf.record.streams.stream import Instants

    if isinstance(exact, Instants):
        yield from _latency_problems(name, threads, summed, exact.values)
    elif summed.count == exact.count and (recorded := exact.summary()) is not None:
        exact_values = (recorded.mean_s, recorded.min_s, recorded.max_s)
        for figure, value in zip(SUMMARY[1:], exact_values, strict=True):
            if not _same(by_simulator := getattr(summed, figure), value):
                yield f"{name}: {figure} {by_simulator} by the simulator, {value} recorded"


def _latency_problems(name: str, threads: int, summed: Summary, exact: np.ndarray) -> Iterator[str]:
    """Yield differences between the simulator's latencies and those of the recorded instants.

    Messages that a thread did not count before it ended are among the last that were finished.
    """
    by_finish = exact[np.argsort(exact[:, 1], kind="stable")]
    values = by_finish[:, 1] - by_finish[:, 0]
    uncounted = len(values) - summed.count
    late_begin = len(values) - (uncounted + threads if uncounted else 0)
    counted, late = values[:late_begin], values[late_begin:]
    recorded_total, summed_total = float(values.sum()), (summed.latency or 0.0) * summed.count
    tolerance = PRECISION * float(np.abs(values).sum())
    if not _may_sum_to(recorded_total - summed_total, uncounted, late, tolerance):
        mean = recorded_total / len(values)
        yield (
            f"{name}: latency {summed.latency} by the simulator, {mean} recorded,"
            f" {uncounted} uncounted"
        )
    for figure, reduce in (("min_latency", np.min), ("max_latency", np.max)):
        bounds = sorted(float(reduce(group)) for group in (counted, values) if len(group))
        by_simulator, tolerance = getattr(summed, figure) or 0.0, PRECISION * max(map(abs, bounds))
        if not bounds[0] - tolerance <= by_simulator <= bounds[-1] + tolerance:
            yield f"{name}: {figure} {by_simulator} by the simulator, {bounds[-1]} recorded"


def _may_sum_to(total: float, count: int, late: np.ndarray, tolerance: float) -> bool:
    """Whether some ``count`` of the late latencies sum to ``total``; only bounds, if very many."""
    times: list[float] = late.tolist()
    if comb(len(late), count) <= MOST_COMBINATIONS:
        return any(abs(sum(chosen) - total) <= tolerance for chosen in combinations(times, count))
    ordered = sorted(times)
    return sum(ordered[:count]) - tolerance <= total <= sum(ordered[-count:]) + tolerance


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= PRECISION * max(abs(a), abs(b))


READER = LoadReader("simulator", account)
