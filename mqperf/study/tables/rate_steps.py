"""The table ``rate_steps``: throughput and latency at each step of the offered rate in a run."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mqperf.plan.load.ramped import stairs_of
from mqperf.record.streams.stream import Latencies
from mqperf.study.tables.within_run import Row, quantiles

if TYPE_CHECKING:
    from mqperf.onhost.load.curves import Curve
    from mqperf.study.tables.of_run import Reading


def rate_steps(reading: "Reading") -> Iterator[dict[str, Any]]:
    """A row for each step with a whole second in the window; none if the rate is constant.

    Throughput is of the messages finished in the whole seconds of the step, latency of those due in
    them, however late they finished.
    """
    if (curve := stairs_of(reading.run.case)) is None:
        return
    summary = reading.done.summary()
    for step, offered in enumerate(curve.rates.tolist()):
        if row := of_step(reading, curve, step * curve.step_s, (step + 1) * curve.step_s):
            least = math.nan if summary is None else summary.min_s
            yield {"step_rate_msg_s": offered, "latency_min_s": least, **row}


def of_step(reading: "Reading", curve: "Curve", begin_s: float, end_s: float) -> dict[str, Any]:
    """Columns of a step between two times of the load; empty if the window has none of its seconds.

    Only whole seconds of the step count.
    """
    start, _ = reading.run.load
    begin, end = _whole_seconds(reading, begin_s, end_s)
    if end <= begin:
        return {}
    due = reading.done.started_in((begin, end))
    finished = reading.done.per_second((start, end))
    missing = curve.due(end - start) * deliveries(reading) - finished.sum()
    return {
        "from_s": begin - reading.run.window[0],
        "until_s": end - reading.run.window[0],
        "throughput_msg_s": finished[round(begin - start) :].sum() / (end - begin),
        "unfinished": max(0, round(missing)),
        **(_latency(due) if due.count else {}),
    }


def _latency(due: Latencies) -> Row:
    """Latency columns of a step that has messages."""
    return {"latency_mean_s": due.mean_s, **quantiles("latency", due, ["p99"])}


def deliveries(reading: "Reading") -> float:
    """The number of expected deliveries per message."""
    expected, sent = reading.accounts.get("deliveries"), reading.streams.together("sent").count
    return float(expected) / sent if expected and sent else 1.0


def _whole_seconds(reading: "Reading", begin_s: float, end_s: float) -> tuple[float, float]:
    """The whole seconds between two times of the load within the window, in epoch seconds."""
    start, _ = reading.run.load
    first = max(start + math.ceil(begin_s - 1e-9), reading.run.window[0])
    return first, min(start + math.floor(end_s + 1e-9), reading.run.window[1])
