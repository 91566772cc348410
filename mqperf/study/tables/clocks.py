"""Instants of every process by one clock: that of the controller.

Each process wrote by the clock of its host, which was compared with the controller's before and
after the load; in between, the middle of both holds.  A server also writes when a message was sent:
by the clock of the client's host, since the message brings that instant along.
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
"""The stream of servers: started by the client's clock, finished by the server's own."""

OF_TWO_CLOCKS = {RECEIVED, "service", "dead_lettered", "urgent", "usual"}
"""All streams of servers; of instants, the same row of two is of the same message."""

UNSURE = "latency_uncertainty_s"
"""The column that says by how much clocks may make the latencies of a row wrong, either way."""

LARGE_SHARE = 0.1
"""Share of the median latency from which on the clocks' uncertainty hides what is compared."""

Host = str | None
Recorded = Mapping[str, Mapping[str, Instants]]


def instants(run: Whole, recorded: Recorded) -> tuple[Recorded, float]:
    """The messages by the controller's clock, and by how much one-way latencies may be wrong.

    A message that a server received is known by its start, to the bit, as some client's: so the
    clock of its start is known, however many hosts have clients.
    """
    senders = _senders(run, recorded)
    processes: dict[str, Mapping[str, Instants]] = {}
    uncertain = [0.0]
    for label, streams in recorded.items():
        host = run.host_of(label)
        own_s = run.clock(host).offset_s
        by_us = {name: _less(stream, np.array(own_s)) for name, stream in streams.items()}
        if RECEIVED in streams:
            hosts, ahead = senders[label]
            of_both = np.column_stack([ahead, np.full(len(ahead), own_s)])
            by_us |= {
                name: _less(streams[name], of_both) for name in OF_TWO_CLOCKS & streams.keys()
            }
            uncertain += [run.facts.uncertainty_s(client, host) for client in hosts]
        processes[label] = by_us
    return processes, max(uncertain)


def counted(
    run: Whole, recorded: Mapping[str, CountsFile]
) -> tuple[Mapping[str, Mapping[str, Counted]], float]:
    """The same of counts, of which the senders are known, but not which message was whose.

    So messages of several hosts at one server are put right by the middle of their clocks, which is
    wrong by half of what these are apart.
    """
    at = {
        sender.partition("@")[0]: run.host_of(label)
        for label, file in recorded.items()
        for sender in file.numbers.get("sent", {})
    }
    processes: dict[str, Mapping[str, Counted]] = {}
    uncertain = [0.0]
    for label, file in recorded.items():
        host = run.host_of(label)
        own_s = run.clock(host).offset_s
        senders = {client.partition("@")[0] for client in file.numbers.get(RECEIVED, {})}
        hosts = {at[client] for client in senders if client in at}
        middle_s, spread_s = _middle_s(run, hosts or {host})
        by_us = {}
        for name, stream in file.streams.items():
            start = run.load[0] + round(stream.start - file.header.start)
            ahead_s = middle_s - own_s if name in OF_TWO_CLOCKS else 0.0
            by_us[name] = by_clock(stream, start, own_s, ahead_s)
        processes[label] = by_us
        uncertain += [run.facts.uncertainty_s(client, host) + spread_s for client in hosts]
    return processes, max(uncertain)


def _middle_s(run: Whole, hosts: Collection[Host]) -> tuple[float, float]:
    """The middle of the offsets of these hosts, and how far the others are from it."""
    offsets = [run.clock(host).offset_s for host in hosts]
    return (min(offsets) + max(offsets)) / 2, (max(offsets) - min(offsets)) / 2


def _less(stream: Instants, ahead_s: NDArray[np.float64]) -> Instants:
    """The stream by a clock that is so far behind; the same where that is nothing."""
    return Instants(stream.values - ahead_s) if ahead_s.any() else stream


def _senders(
    run: Whole, recorded: Recorded
) -> Mapping[str, tuple[Collection[Host], NDArray[np.float64]]]:
    """By server, the hosts whose messages it received, and how far ahead the sender's clock was.

    Where nobody sent a message, the middle of the clients' clocks stands in.
    """
    sent = {label: named["sent"].started for label, named in recorded.items() if "sent" in named}
    got = {label: named[RECEIVED].started for label, named in recorded.items() if RECEIVED in named}
    hosts = list(dict.fromkeys(run.host_of(label) for label in sent))
    ahead = np.array([run.clock(host).offset_s for host in hosts])
    if len(hosts) < 2:
        return {label: (hosts, np.full(len(starts), ahead.sum())) for label, starts in got.items()}
    of_host = [
        np.full(len(starts), hosts.index(run.host_of(sender))) for sender, starts in sent.items()
    ]
    places = _matched(
        np.concatenate([*got.values()]), np.concatenate([*sent.values()]), np.concatenate(of_host)
    )
    offsets = np.append(ahead, _middle_s(run, hosts)[0])  # the last stands for nobody
    ends = np.cumsum([len(starts) for starts in got.values()])
    parts = dict(zip(got, np.split(places, ends[:-1]), strict=True))
    return {
        label: ([hosts[sender] for sender in np.unique(part) if sender >= 0], offsets[part])
        for label, part in parts.items()
    }


def _matched(
    got: NDArray[np.float64], sent: NDArray[np.float64], of: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each start that servers got, the value ``of`` the one that was sent; -1 for none.

    Of starts that are the same, each is taken by another message.
    """
    by_start, order = np.argsort(sent, kind="stable"), np.argsort(got, kind="stable")
    ordered_sent, ordered = sent[by_start], got[order]
    first = np.searchsorted(ordered_sent, ordered, "left")
    there = np.searchsorted(ordered_sent, ordered, "right") - first
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, "left")
    taken = first + np.minimum(rank, there - 1)
    matched = np.full(len(got), -1)
    matched[order[there > 0]] = of[by_start[taken[there > 0]]]
    return matched


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
    kept = ~lost[buckets.second]
    middle = middle_s(buckets.index[kept]) - late_s
    second, count = buckets.second[kept], buckets.count[kept]
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
