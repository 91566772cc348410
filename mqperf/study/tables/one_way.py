"""The parts of a latency: how late a message was handed over, and how long it took then.

The three are recorded apart, by client and server.  Of counts, the sums of the same messages must
agree; of instants, those of every message.
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
"""Two steps of epoch seconds in a float64: by so much a latency of each message may be off."""

Sums = Mapping[str, NDArray[np.float64]]


def disagreements(run: Whole, streams: Streams, duplicates: int, foreign: int) -> Iterator[str]:
    """One-way latencies that are not handover and service together, where all three are known.

    Asked of each stretch of seconds at whose ends nothing due was still to be handed over: the
    same messages are in all three sums.  What was lost of them, or received again, was handed over
    no faster than the fastest, and no slower than the slowest.
    """
    if streams.record == INSTANTS:
        yield from _by_message(streams.recorded)
        return
    named = {name: streams.together(name) for name in ("received", "handover", "service")}
    parts = {name: part for name, part in named.items() if isinstance(part, Counted) and part.count}
    if len(parts) < len(named) or foreign:
        return
    sums = _sums(parts, one_clock=len({run.host_of(label) for label in streams.processes}) == 1)
    lost = sums["due"] - sums["received"] + duplicates
    late = sums["one_way_s"] - sums["service_s"]
    allowed = sums["due"] * RESOLUTION_S
    least = sums["handover_s"] - np.minimum(lost * sums["most_s"], sums["handover_s"])
    most = sums["handover_s"] - lost * sums["least_s"] + duplicates * sums["most_s"]
    wrong = (late < least - allowed) | (late > most + allowed)
    for at in np.flatnonzero(wrong & (sums["due"] > 0) & (lost >= 0))[:1]:
        yield (
            f"received: one-way latencies of {sums['one_way_s'][at]:.6g} s together,"
            f" {sums['service_s'][at]:.6g} s of it service, so {late[at]:.6g} s handover; clients"
            f" recorded {sums['handover_s'][at]:.6g} s of the {sums['due'][at]:.0f} messages"
        )


def _by_message(recorded: ByProcess) -> Iterator[str]:
    """Processes of which a message was due, sent or finished at another instant than its part says.

    When a message was sent is known by when it was due.
    """
    named = {label: _values(streams) for label, streams in recorded.items()}
    handed = [streams["handover"] for streams in named.values() if "handover" in streams]
    if not sum(map(len, handed)):
        return
    handovers = np.concatenate(handed)
    handovers = handovers[np.argsort(handovers[:, 0], kind="stable")]
    for label, streams in named.items():
        for part, whole in parts_of(streams):
            started, finished = streams[part].T
            due = streams[whole][:, 0]
            wrong = started != (due if part == "handover" else _sent(handovers, due))
            if part != "handover":
                wrong |= finished != streams[whole][:, 1]
            if wrong.any():
                yield f"{label}: {part} and {whole} differ for {wrong.sum()} of {len(due)} messages"


def _values(streams: Mapping[str, Stream]) -> Mapping[str, NDArray[np.float64]]:
    return {name: stream.values for name, stream in streams.items() if isinstance(stream, Instants)}


def _sent(handovers: NDArray[np.float64], due: NDArray[np.float64]) -> NDArray[np.float64]:
    """When messages were sent that were due at these instants; NaN where nobody knows."""
    at = np.minimum(np.searchsorted(handovers[:, 0], due), len(handovers) - 1)
    return np.where(handovers[at, 0] == due, handovers[at, 1], np.nan)


def _sums(parts: Mapping[str, Counted], *, one_clock: bool) -> Sums:
    """By stretch, messages and latencies; seconds of several clocks are of one stretch."""
    window = min(part.start for part in parts.values()), max(part.end for part in parts.values())
    handed = parts["handover"]
    due = cut(handed.started.count, handed.start, window)
    done = cut(handed.finished.count, handed.start, window)
    settled = np.cumsum(due) == np.cumsum(done) if one_clock and not handed.negative else due < 0
    settled[-1] = True
    begins = np.append(0, np.flatnonzero(settled)[:-1] + 1)

    def by_stretch(name: str, field: str, join: np.ufunc = np.add) -> NDArray[np.float64]:
        values = np.nan_to_num(getattr(parts[name].started, field), posinf=0.0, neginf=0.0)
        figures: NDArray[np.float64] = join.reduceat(cut(values, parts[name].start, window), begins)
        return figures

    return {
        "due": by_stretch("handover", "count"),
        "received": by_stretch("received", "count"),
        "handover_s": by_stretch("handover", "latency_sum_s"),
        "service_s": by_stretch("service", "latency_sum_s"),
        "one_way_s": by_stretch("received", "latency_sum_s"),
        "least_s": by_stretch("handover", "latency_min_s", np.minimum),
        "most_s": by_stretch("handover", "latency_max_s", np.maximum),
    }
