"""Counted streams by another clock: counts stay, latencies and seconds move."""

from dataclasses import replace

import numpy as np

from mqperf.onhost.record.hdr import indices, middle_s
from mqperf.record.streams.counted import Buckets, Counted, Finished, Started, cut


def by_clock(stream: Counted, start: float, ahead_s: float, sender_s: float = 0.0) -> Counted:
    """The same messages by the clock of somebody else, where ``start`` is that of its seconds.

    The clock that counted them was ``ahead_s`` ahead, that of the senders ``sender_s`` ahead of it:
    so messages were started earlier, by whole seconds as no single instant is known, and latencies
    are longer.  Latencies that were recorded as below zero share a bucket: of a second with such,
    no percentile is known afterwards.
    """
    latest = None if stream.latest is None else stream.latest - ahead_s
    moved = replace(stream, start=start, latest=latest)
    if stream.timed and sender_s:
        moved = _faster(moved, -sender_s)
    return _earlier(moved, round(sender_s)) if round(sender_s) and stream.count else moved


def _faster(stream: Counted, late_s: float) -> Counted:
    started, finished, buckets = stream.started, stream.finished, stream.buckets
    lost = started.negative > 0
    known = ~lost[buckets.second]
    middle = middle_s(buckets.index[known]) - late_s
    second, count = buckets.second[known], buckets.count[known]
    least = started.latency_min_s - late_s
    below = np.bincount(second, weights=count * (middle < 0), minlength=len(lost)).astype(np.int64)
    return replace(
        stream,
        started=Started(
            count=started.count,
            latency_sum_s=started.latency_sum_s - late_s * started.count,
            latency_min_s=least,
            latency_max_s=started.latency_max_s - late_s,
            negative=np.where(least < 0, np.maximum(below, 1), 0),
            beyond=np.where(lost, started.count, started.beyond),
        ),
        finished=replace(
            finished,
            latency_sum_s=finished.latency_sum_s - late_s * finished.count,
            latency_max_s=finished.latency_max_s - late_s,
        ),
        buckets=Buckets(second, indices(middle)[0], count),
    )


def _earlier(stream: Counted, whole_s: int) -> Counted:
    """Messages were started so many seconds earlier, and finished when they were."""
    before, started, finished = max(whole_s, 0), stream.started, stream.finished
    window = stream.start - before, stream.end + max(-whole_s, 0)
    begin = stream.start - whole_s
    return replace(
        stream,
        start=window[0],
        started=Started(
            count=cut(started.count, begin, window),
            latency_sum_s=cut(started.latency_sum_s, begin, window),
            latency_min_s=cut(started.latency_min_s, begin, window, np.inf),
            latency_max_s=cut(started.latency_max_s, begin, window, -np.inf),
            negative=cut(started.negative, begin, window),
            beyond=cut(started.beyond, begin, window),
        ),
        finished=Finished(
            count=cut(finished.count, stream.start, window),
            latency_sum_s=cut(finished.latency_sum_s, stream.start, window),
            latency_max_s=cut(finished.latency_max_s, stream.start, window, -np.inf),
            first_s=cut(finished.first_s, stream.start, window, np.inf),
            last_s=cut(finished.last_s, stream.start, window, -np.inf),
        ),
        buckets=replace(stream.buckets, second=stream.buckets.second - whole_s + before),
    )
