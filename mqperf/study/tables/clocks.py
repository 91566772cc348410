"""Convert the instants of every process to the clock of the controller.

Each process records by the clock of its host, which was compared with the controller's before and
after the load; the mean of both offsets is used throughout.  A server also records when a message
was sent: by the clock of the client's host, since the message carries that instant.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.record.hdr import indices, middle_s
from mqperf.record import Whole
from mqperf.record.counts import CountsFile
from mqperf.record.streams.counted import Buckets, Counted, Started, joined
from mqperf.record.streams.stream import Instants

RECEIVED = "received"
"""The stream of servers: starts are by the client's clock, finishes by the server's own."""

OF_TWO_CLOCKS = {RECEIVED, "service", "dead_lettered", "urgent", "usual"}
"""All streams of servers; of instants, the same row of two is of the same message."""

UNSURE = "latency_uncertainty_s"
"""The column with the clock error of a row's latencies, in either direction."""

LARGE_SHARE = 0.1
"""Share of the median latency above which the clocks' uncertainty hides differences."""

Host = str | None
Recorded = Mapping[str, Mapping[str, Instants]]


def instants(run: Whole, recorded: Recorded) -> tuple[Recorded, float]:
    """The messages by the controller's clock, and the uncertainty of one-way latencies.

    The start of a received message equals, to the bit, the start that its client recorded: so the
    clock of that start is known, however many hosts run clients.
    """
    senders = _senders(run, recorded)
    processes: dict[str, Mapping[str, Instants]] = {}
    uncertainties = [0.0]
    for label, streams in recorded.items():
        host = run.host_of(label)
        own_s = run.clock(host).offset_s
        corrected = {name: _corrected(stream, np.array(own_s)) for name, stream in streams.items()}
        if RECEIVED in streams:
            hosts, ahead_s = senders[label]
            of_both = np.column_stack([ahead_s, np.full(len(ahead_s), own_s)])
            corrected |= {
                name: _corrected(streams[name], of_both) for name in OF_TWO_CLOCKS & streams.keys()
            }
            uncertainties += [run.facts.uncertainty_s(client, host) for client in hosts]
        processes[label] = corrected
    return processes, max(uncertainties)


def counted(
    run: Whole, recorded: Mapping[str, CountsFile]
) -> tuple[Mapping[str, Mapping[str, Counted]], float]:
    """The same for counts, whose senders are known, but not the sender of each message.

    So messages of several hosts at one server are corrected by the midrange of their clock
    offsets, which adds half of their range to the uncertainty.
    """
    host_of = {
        sender.partition("@")[0]: run.host_of(label)
        for label, file in recorded.items()
        for sender in file.numbers.get("sent", {})
    }
    processes: dict[str, Mapping[str, Counted]] = {}
    uncertainties = [0.0]
    for label, file in recorded.items():
        host = run.host_of(label)
        own_s = run.clock(host).offset_s
        senders = {client.partition("@")[0] for client in file.numbers.get(RECEIVED, {})}
        hosts = {host_of[client] for client in senders if client in host_of}
        midrange_s, half_range_s = _midrange_s(run, hosts or {host})
        corrected = {}
        for name, stream in file.streams.items():
            start = run.load[0] + round(stream.start - file.header.start)
            ahead_s = midrange_s - own_s if name in OF_TWO_CLOCKS else 0.0
            corrected[name] = by_clock(stream, start, own_s, ahead_s)
        processes[label] = corrected
        uncertainties += [run.facts.uncertainty_s(client, host) + half_range_s for client in hosts]
    return processes, max(uncertainties)


def _midrange_s(run: Whole, hosts: Collection[Host]) -> tuple[float, float]:
    """The midrange of the clock offsets of these hosts, and half of their range."""
    offsets = [run.clock(host).offset_s for host in hosts]
    return (min(offsets) + max(offsets)) / 2, (max(offsets) - min(offsets)) / 2


def _corrected(stream: Instants, ahead_s: NDArray[np.float64]) -> Instants:
    """The stream with ``ahead_s`` subtracted; the stream itself where all of that is zero."""
    return Instants(stream.values - ahead_s) if ahead_s.any() else stream


def _senders(
    run: Whole, recorded: Recorded
) -> Mapping[str, tuple[Collection[Host], NDArray[np.float64]]]:
    """By server: the hosts whose messages it received, and the sender's clock offset per message.

    For a message that no client sent, the midrange of the clients' offsets is used.
    """
    sent = {label: named["sent"].started for label, named in recorded.items() if "sent" in named}
    got = {label: named[RECEIVED].started for label, named in recorded.items() if RECEIVED in named}
    hosts = list(dict.fromkeys(run.host_of(label) for label in sent))
    ahead = np.array([run.clock(host).offset_s for host in hosts])
    if len(hosts) < 2:
        return {label: (hosts, np.full(len(starts), ahead.sum())) for label, starts in got.items()}
    host_of = [
        np.full(len(starts), hosts.index(run.host_of(sender))) for sender, starts in sent.items()
    ]
    matched = _matched(
        np.concatenate([*got.values()]), np.concatenate([*sent.values()]), np.concatenate(host_of)
    )
    offsets = np.append(ahead, _midrange_s(run, hosts)[0])  # index -1: no sender
    ends = np.cumsum([len(starts) for starts in got.values()])
    by_server = dict(zip(got, np.split(matched, ends[:-1]), strict=True))
    return {
        label: ([hosts[sender] for sender in np.unique(senders) if sender >= 0], offsets[senders])
        for label, senders in by_server.items()
    }


def _matched(
    received: NDArray[np.float64], sent: NDArray[np.float64], hosts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each received start, the host index of the equal sent start; -1 where there is none.

    ``hosts`` has the index of each sent start.  Equal starts are matched one to one.
    """
    by_start, order = np.argsort(sent, kind="stable"), np.argsort(received, kind="stable")
    ordered_sent, ordered = sent[by_start], received[order]
    first = np.searchsorted(ordered_sent, ordered, "left")
    copies = np.searchsorted(ordered_sent, ordered, "right") - first
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, "left")
    taken = first + np.minimum(rank, copies - 1)
    matched = np.full(len(received), -1)
    matched[order[copies > 0]] = hosts[by_start[taken[copies > 0]]]
    return matched


def by_clock(stream: Counted, start: float, ahead_s: float, sender_s: float = 0.0) -> Counted:
    """The same messages by another clock, whose seconds begin at ``start``.

    The recording clock was ``ahead_s`` ahead of it, that of the senders ``sender_s`` ahead of the
    recording one: starts move earlier, by whole seconds as no single instant is known, and
    latencies grow.  Latencies recorded as negative share a bucket: in a second with such, no
    percentile is known afterwards.
    """
    latest = None if stream.latest is None else stream.latest - ahead_s
    moved = replace(stream, start=start, latest=latest)
    if stream.timed and sender_s:
        moved = _with_shorter_latencies(moved, -sender_s)
    return _started_earlier(moved, round(sender_s)) if round(sender_s) and stream.count else moved


def _with_shorter_latencies(stream: Counted, by_s: float) -> Counted:
    started, finished, buckets = stream.started, stream.finished, stream.buckets
    lost = started.negative > 0  # seconds whose percentiles are unknown
    kept = ~lost[buckets.second]
    middle = middle_s(buckets.index[kept]) - by_s
    second, count = buckets.second[kept], buckets.count[kept]
    minimum_s = started.latency_min_s - by_s
    below = np.bincount(second, weights=count * (middle < 0), minlength=len(lost)).astype(np.int64)
    return replace(
        stream,
        started=Started(
            count=started.count,
            latency_sum_s=started.latency_sum_s - by_s * started.count,
            latency_min_s=minimum_s,
            latency_max_s=started.latency_max_s - by_s,
            negative=np.where(minimum_s < 0, np.maximum(below, 1), 0),
            beyond=np.where(lost, started.count, started.beyond),
        ),
        finished=replace(
            finished,
            latency_sum_s=finished.latency_sum_s - by_s * finished.count,
            latency_max_s=finished.latency_max_s - by_s,
        ),
        buckets=Buckets(second, indices(middle)[0], count),
    )


def _started_earlier(stream: Counted, whole_s: int) -> Counted:
    """The stream with starts ``whole_s`` seconds earlier, and finishes unchanged."""
    before = max(whole_s, 0)
    window = stream.start - before, stream.end + max(-whole_s, 0)
    begin = stream.start - whole_s
    return replace(
        stream,
        start=window[0],
        started=joined([(stream.started, begin)], window),
        finished=joined([(stream.finished, stream.start)], window),
        buckets=replace(stream.buckets, second=stream.buckets.second - whole_s + before),
    )
