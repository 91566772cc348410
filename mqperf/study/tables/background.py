"""The table ``background``: background loads, read and accounted for like the measured load."""

from collections.abc import Iterator, Sequence
from typing import Any

from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Event, Whole, beside
from mqperf.study.load import account_of
from mqperf.study.tables import one_way
from mqperf.study.tables.accounting import accounted, drained
from mqperf.study.tables.streams import Streams, read_streams
from mqperf.study.tables.within_run import quantiles

DRAINED = "background-drained"
"""The counterpart, for a background load, of the event ``drained`` of the measured load."""


def background(run: Whole, events: Sequence[Event]) -> list[dict[str, Any]]:
    """A row for each background load: message counts of the whole load, rates in the run's window.

    Raises ``MqperfError`` as reading the measured load does.
    """
    return [_row(number, load, events) for number, load in enumerate(beside(run), 1)]


def _row(number: int, run: Whole, events: Sequence[Event]) -> dict[str, Any]:
    streams = read_streams(run)
    account = account_of(run, streams.recorded)
    accounts = accounted(run, streams)
    disagreements = [
        *account.disagreements,
        *drained(streams, [*_events_of_load(number, events)]),
        *one_way.disagreements(run, streams, accounts["duplicates"], accounts["foreign"]),
    ]
    length = run.window[1] - run.window[0]
    sent = streams.together("sent")
    finished = streams.finished(run.case.test_case)
    return {
        "background": number,
        "load": run.case.load_words(),
        "sent": sent.count,
        "received": streams.received,
        "errors": streams.together("error").count,
        "throughput_msg_s": finished.per_second(run.window).sum() / length,
        "send_rate_msg_s": sent.per_second(run.window).sum() / length,
        "offered_rate_msg_s": account.offered_msg_s,
        **accounts,
        **_latency(run, streams),
        "disagreements": "; ".join(disagreements) or None,
    }


def _latency(run: Whole, streams: Streams) -> dict[str, Any]:
    """Latency columns of the messages started in the window; empty if there were none."""
    latencies = streams.finished(run.case.test_case).started_in(run.window)
    if not latencies.count:
        return {}
    replies = TEST_CASES[run.case.test_case].replies
    return quantiles("latency", latencies, ["p50", "p99"]) | {
        "latency_mean_s": latencies.mean_s,
        "latency_uncertainty_s": 0.0 if replies else streams.uncertainty_s,
    }


def _events_of_load(number: int, events: Sequence[Event]) -> Iterator[Event]:
    """The runner's events of one background load, renamed to those of a measured load."""
    for event in events:
        if event.what == DRAINED and event.detail.get("number") == number:
            yield event.model_copy(update={"what": "drained"})
