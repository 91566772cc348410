"""What the simulator itself says of a run, and where that contradicts the exact record."""

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
MOST_SUMS = 5_000
"""As many ways to choose messages are tried, to find those that the simulator did not count."""

PRECISION = 1e-9
"""Two ways to add up the same numbers differ by less."""


def _offered_msg_s(case: Case) -> float | None:
    """The rate all the time; None where there is none, or where it changes."""
    changes = case.parameters.get(RAMP) is not None
    return None if changes else offered_msg_s(case.parameters, case.threads)


def account(run: Whole, streams: ByProcess) -> Account:
    """Throughput and latency by the formulas of 2016, from the simulator's own summaries.

    Raises ``LoadError`` for output that is damaged or of another run.
    """
    outputs = _outputs(run)
    written = [*outputs.values()]
    throughput_msg_s, latency_mean_s = output.published_compatible(
        [client.summary for client in written if isinstance(client, output.ClientOutput)],
        [server.summary for server in written if isinstance(server, output.ServerOutput)],
        run.case.test_case,
    )
    return Account(
        throughput_msg_s=throughput_msg_s,
        latency_mean_s=latency_mean_s,
        offered_msg_s=_offered_msg_s(run.case),
        disagreements=[
            *_logged(run, outputs),
            *(
                f"{label}: {problem}"
                for label, written in outputs.items()
                for name, summary in output.summaries(written).items()
                for problem in _stream(
                    run, name, summary, written.points(name), streams[label][STREAMS[name]]
                )
            ),
        ],
    )


def _outputs(run: Whole) -> Mapping[str, Output]:
    """What the simulator itself wrote, by the label of the process."""
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


def _logged(run: Whole, outputs: Mapping[str, Output]) -> Iterator[str]:
    """What the simulator said at the end of its log, against what it wrote as JSON."""
    for label, written in outputs.items():
        logged = log.counts(run.folder / f"{label}.log")
        for name, summary in output.summaries(written).items():
            if name in logged and logged[name] != summary.count:
                yield (
                    f"{label}: {name}: {summary.count} in the simulator's summary, {logged[name]}"
                    " in its log"
                )


def _stream(
    run: Whole, name: str, summary: Summary, points: list[Point], exact: Stream
) -> Iterator[str]:
    """What the simulator says of one stream of a process, against its points and the record.

    A client's thread may end before it has counted its last message.
    """
    summed = output.summed(points)
    missed = 0 if name == "server" else run.case.green_threads
    if summed.count != summary.count:
        yield f"{name}: {summary.count} in the simulator's summary, {summed.count} in its series"
    for figure in SUMMARY:
        in_summary, in_series = getattr(summary, figure), getattr(summed, figure)
        if not _same(in_summary, in_series):
            yield (
                f"{name}: {figure} {in_summary} in the simulator's summary,"
                f" {in_series} in its series"
            )
    if not exact.count - missed <= summed.count <= exact.count:
        yield f"{name}: {exact.count} messages recorded, {summed.count} counted by the simulator"
    elif summed.latency is not None and exact.timed and name != "error":
        yield from _recorded(name, run.case.green_threads, summed, exact)


def _recorded(name: str, threads: int, summed: Summary, exact: Stream) -> Iterator[str]:
    """Where the simulator's latencies are not those of the record, be it instants or counts.

    Counts do not tell which messages the simulator left out, so they are compared without any.
    """
    from mqperf.record.streams.stream import Instants

    if isinstance(exact, Instants):
        yield from _latencies(name, threads, summed, exact.values)
    elif summed.count == exact.count and (recorded := exact.summary()) is not None:
        exactly = (recorded.mean_s, recorded.min_s, recorded.max_s)
        for figure, is_ in zip(SUMMARY[1:], exactly, strict=True):
            if not _same(getattr(summed, figure), is_):
                yield f"{name}: {figure} {getattr(summed, figure)} by the simulator, {is_} recorded"


def _latencies(name: str, threads: int, summed: Summary, exact: "np.ndarray") -> Iterator[str]:
    """Where the simulator's latencies are not those of the record.

    A message that a thread ended before it had counted is among the last that were finished.
    """
    ordered = exact[np.argsort(exact[:, 1], kind="stable")]
    latency = ordered[:, 1] - ordered[:, 0]
    missed = len(latency) - summed.count
    last = missed + threads if missed else 0
    counted, late = latency[: len(latency) - last], latency[len(latency) - last :]
    total, summed_total = float(latency.sum()), (summed.latency or 0.0) * summed.count
    slack = PRECISION * float(np.abs(latency).sum())
    if not _left_over(total - summed_total, missed, late, slack):
        mean = total / len(latency)
        yield (
            f"{name}: latency {summed.latency} by the simulator, {mean} recorded,"
            f" {missed} uncounted"
        )
    for figure, of in (("min_latency", np.min), ("max_latency", np.max)):
        ends = sorted(float(of(latencies)) for latencies in (counted, latency) if len(latencies))
        is_, slack = getattr(summed, figure) or 0.0, PRECISION * max(map(abs, ends))
        if not ends[0] - slack <= is_ <= ends[-1] + slack:
            yield f"{name}: {figure} {is_} by the simulator, {ends[-1]} recorded"


def _left_over(left: float, missed: int, late: "np.ndarray", slack: float) -> bool:
    """Whether so many of the late messages took this time together; or may have, of very many."""
    times: list[float] = late.tolist()
    if comb(len(late), missed) <= MOST_SUMS:
        return any(abs(sum(chosen) - left) <= slack for chosen in combinations(times, missed))
    ordered = sorted(times)
    return sum(ordered[:missed]) - slack <= left <= sum(ordered[-missed:]) + slack


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= PRECISION * max(abs(a), abs(b))


READER = LoadReader("simulator", account)
