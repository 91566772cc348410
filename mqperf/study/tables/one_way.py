"""Check that handover delay and service time add up to the one-way latency.

Client and server record the three independently.  In records of counts, the sums over the same
messages must agree; in records of instants, the instants of every message.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from mqperf.record import Whole
from mqperf.record.streams.counted import Counted, cut
from mqperf.record.streams.stream import ByProcess, Instants, Stream
from mqperf.record.totals import INSTANTS
from mqperf.study.tables.streams import Streams, parts_of

RESOLUTION_S = 5e-7
"""Two steps of epoch seconds in a float64: the rounding error of the latency of a message."""

Sums = Mapping[str, NDArray[np.float64]]


def disagreements(run: Whole, streams: Streams, duplicates: int, foreign: int) -> Iterator[str]:
    """Yield where one-way latencies differ from handover plus service, if all three are recorded.

    Sums are compared over stretches of seconds at whose ends no due message awaited its handover,
    so that all three sums are of the same messages.  The handover delay of a lost or duplicate
    message is only known to be between the least and the largest.
    """
    if streams.record == INSTANTS:
        yield from _by_message(streams.recorded)
        return
    merged = {name: streams.together(name) for name in ("received", "handover", "service")}
    counted = {name: s for name, s in merged.items() if isinstance(s, Counted) and s.count}
    if len(counted) < len(merged) or foreign:
        return
    sums = _sums(counted, one_clock=len({run.host_of(label) for label in streams.processes}) == 1)
    lost = sums["due"] - sums["received"] + duplicates
    delay = sums["one_way_s"] - sums["service_s"]
    allowed = sums["due"] * RESOLUTION_S
    lowest_s = sums["handover_s"] - np.minimum(lost * sums["most_s"], sums["handover_s"])
    highest_s = sums["handover_s"] - lost * sums["least_s"] + duplicates * sums["most_s"]
    wrong = (delay < lowest_s - allowed) | (delay > highest_s + allowed)
    for i in np.flatnonzero(wrong & (sums["due"] > 0) & (lost >= 0))[:1]:
        yield (
            f"received: one-way latencies of {sums['one_way_s'][i]:.6g} s together,"
            f" {sums['service_s'][i]:.6g} s of it service, so {delay[i]:.6g} s handover; clients"
            f" recorded {sums['handover_s'][i]:.6g} s of the {sums['due'][i]:.0f} messages"
        )


def _by_message(recorded: ByProcess) -> Iterator[str]:
    """Yield processes where a stream with a part of the latency contradicts that with the whole.

    The instant at which a message was sent is looked up by the instant at which it was due.
    """
    instants = {label: _values(streams) for label, streams in recorded.items()}
    arrays = [streams["handover"] for streams in instants.values() if "handover" in streams]
    if not sum(map(len, arrays)):
        return
    handovers = np.concatenate(arrays)
    handovers = handovers[np.argsort(handovers[:, 0], kind="stable")]
    for label, streams in instants.items():
        for part, whole in parts_of(streams):
            started, finished = streams[part].T
            due = streams[whole][:, 0]
            wrong = started != (due if part == "handover" else _sent_at(handovers, due))
            if part != "handover":
                wrong |= finished != streams[whole][:, 1]
            if wrong.any():
                yield f"{label}: {part} and {whole} differ for {wrong.sum()} of {len(due)} messages"


def _values(streams: Mapping[str, Stream]) -> Mapping[str, NDArray[np.float64]]:
    return {name: stream.values for name, stream in streams.items() if isinstance(stream, Instants)}


def _sent_at(handovers: NDArray[np.float64], due: NDArray[np.float64]) -> NDArray[np.float64]:
    """When the messages due at these instants were sent; NaN where no handover is recorded."""
    at = np.minimum(np.searchsorted(handovers[:, 0], due), len(handovers) - 1)
    return np.where(handovers[at, 0] == due, handovers[at, 1], np.nan)


def _sums(streams: Mapping[str, Counted], *, one_clock: bool) -> Sums:
    """Message counts and latency sums by stretch; with several clocks there is a single stretch."""
    window = min(s.start for s in streams.values()), max(s.end for s in streams.values())
    handover = streams["handover"]
    due = cut(handover.started.count, handover.start, window)
    done = cut(handover.finished.count, handover.start, window)
    settled = np.cumsum(due) == np.cumsum(done) if one_clock and not handover.negative else due < 0
    settled[-1] = True
    begins = np.append(0, np.flatnonzero(settled)[:-1] + 1)

    def by_stretch(name: str, field: str, join: np.ufunc = np.add) -> NDArray[np.float64]:
        values = np.nan_to_num(getattr(streams[name].started, field), posinf=0.0, neginf=0.0)
        sums: NDArray[np.float64] = join.reduceat(cut(values, streams[name].start, window), begins)
        return sums

    return {
        "due": by_stretch("handover", "count"),
        "received": by_stretch("received", "count"),
        "handover_s": by_stretch("handover", "latency_sum_s"),
        "service_s": by_stretch("service", "latency_sum_s"),
        "one_way_s": by_stretch("received", "latency_sum_s"),
        "least_s": by_stretch("handover", "latency_min_s", np.minimum),
        "most_s": by_stretch("handover", "latency_max_s", np.maximum),
    }
