"""The log of the psutil probe, as ``onhost/probes/psutil_sampler.py`` writes it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import ProbeError

if TYPE_CHECKING:
    import pandas as pd

LOG = "psutil.jsonl"
WHOLE_HOST = "host"
"""How probes call all of a host among processes."""

TOLERANCE_S = 0.5
"""A sample further than this from its second is not taken as an end of the window."""


LOOPBACK = "lo"

Counter = Annotated[float, Field(ge=0, le=1e15)]
Number = Annotated[int, Field(ge=0, le=2**63 - 1)]
Reading = tuple[Counter, Counter, Counter, Number]
"""When on the monotonic clock, user and system seconds so far, resident bytes."""

Usage = tuple[float, float, float, int | None]
"""The same, with the sum of user and system in the place of user."""


class Strict(BaseModel):
    """Finite numbers of their own JSON type."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


class Network(Strict):
    """Cumulative counters of the network, by interface, and of TCP on the whole host."""

    at: Counter
    bytes: Mapping[str, tuple[Number, Number]]
    speeds: Mapping[str, Number]
    segments: tuple[Number, Number] | None = None


class Sample(Strict):
    """A line of the log, as ``psutil_sampler.py`` writes it."""

    epoch: Counter
    monotonic: Counter
    processes: Mapping[str, Reading | None]
    host: tuple[Counter, Counter, Counter]
    network: Network | None = None


def samples(file: Path) -> list[Sample]:
    """Every sample of a log, in the order of time.

    Raises ``ProbeError`` with the line that is cut short, has a number of another kind, a counter
    that fell, as that of another process would, or readings in another order than they were made.
    """
    try:
        lines = raw.content(file).split(b"\n")
    except OSError as error:
        raise ProbeError(f"{file}: no log of the psutil probe: {error.strerror}") from None
    if lines[-1] == b"":
        lines.pop()
    log = [_sample(file, number, line) for number, line in enumerate(lines, 1)]
    for number, (before, after) in enumerate(pairwise(log), 2):
        if fell := next(_fallen(before, after), None):
            raise ProbeError(f"{file}:{number}: {fell}")
    for number, sample in enumerate(log, 1):
        if wrong := next(_contradictions(sample), None):
            raise ProbeError(f"{file}:{number}: {wrong}")
    return log


def read(
    log: Sequence[Sample],
    kinds: Mapping[str, str],
    window: tuple[float, float],
    host: str = "local",
    ended: Collection[str] = (),
) -> "pd.DataFrame":
    """Rows of the ``cpu`` table: every process in every second of the window, and over all of it.

    ``kinds`` maps the label of each process to its kind; ``window`` is in epoch seconds.  A second
    without a sample gives no row; a process that had died gives none until it was started again.
    One of ``ended``, which the plan had down, used nothing meanwhile: its window has all its lives.
    """
    import pandas as pd

    inside = _inside(log, window)
    rows = []
    for label in [*kinds, WHOLE_HOST]:
        series = [(s.epoch - window[0], _reading(s, label)) for s in inside]
        kind = kinds.get(label, "host")
        pairs = [(a, b, "interval") for a, b in pairwise(series)]
        if len(series) > 1 and all(reading for _, reading in series):
            pairs.append((series[0], series[-1], "window"))
        elif len(series) > 1 and series[-1][1] and label in ended:
            together = _all_lives(inside, label)
            pairs.append(((series[0][0], together[0]), (series[-1][0], together[-1]), "window"))
        rows += [
            {
                "process": label,
                "kind": kind,
                "host": host,
                "scope": scope,
                **_usage((begin, first), (end, last)),
            }
            for (begin, first), (end, last), scope in pairs
            if first is not None and last is not None
        ]
    return pd.DataFrame(rows)


def read_network(
    log: Sequence[Sample], window: tuple[float, float], host: str = "local"
) -> "pd.DataFrame":
    """Rows of the ``network`` table: every interface that carried anything over the window.

    Where none did, which no host of a run can, every interface has a row.
    No rows for a log which ends before the window or which was written without network counters.
    """
    import pandas as pd

    counters = [sample.network for sample in _inside(log, window) if sample.network is not None]
    if len(counters) < 2:
        return pd.DataFrame()
    first, last = counters[0], counters[-1]
    seconds = last.at - first.at
    retransmitted = _retransmitted_share(first.segments, last.segments)
    rows = []
    for interface, counted in last.bytes.items():
        before = first.bytes.get(interface, counted)
        sent, received = (b - a for a, b in zip(before, counted, strict=True))
        if sent or received or last.bytes == first.bytes:
            rows.append(
                {
                    "host": host,
                    "interface": interface,
                    "sent_bytes_s": sent / seconds,
                    "received_bytes_s": received / seconds,
                    "speed_bytes_s": last.speeds.get(interface),
                    "retransmitted_share": retransmitted,
                }
            )
    return pd.DataFrame(rows)


def cores_now(end: bytes) -> dict[str, float]:
    """Cores between the last two samples at the end of a log that is being written, by label.

    Nothing of less than two samples.
    """
    whole = [line for line in end.split(b"\n")[-3:-1] if line.startswith(b"{")]
    if len(whole) < 2:
        return {}
    before, after = (Sample.model_validate_json(line) for line in whole)
    cores = {}
    for label in [*after.processes, WHOLE_HOST]:
        first, last = _reading(before, label), _reading(after, label)
        if first is not None and last is not None and last[0] > first[0]:
            cores[label] = max(0.0, last[1] - first[1]) / (last[0] - first[0])
    return cores


def by_clock(log: Sequence[Sample], ahead_s: float) -> Sequence[Sample]:
    """The samples by a clock that is so far behind the one which they were taken by."""
    if not ahead_s:
        return log
    return [sample.model_copy(update={"epoch": sample.epoch - ahead_s}) for sample in log]


def clock_step_s(log: Sequence[Sample]) -> float:
    """By how much the wall clock was set during the log, against the monotonic clock."""
    offsets = [sample.epoch - sample.monotonic for sample in log]
    return max((offset - offsets[0] for offset in offsets), key=abs, default=0.0)


def _sample(file: Path, number: int, line: bytes) -> Sample:
    try:
        return Sample.model_validate_json(line)
    except ValidationError as error:
        problem, cut = raw.first_problem(error), raw.is_cut(error)
    if cut:
        raise ProbeError(f"{file}:{number}: the psutil log is cut short")
    raise ProbeError(f"{file}:{number}: no sample of the psutil probe: {problem}")


def _contradictions(sample: Sample) -> Iterator[str]:
    """Readings in another order than that of the probe, which reads one process after the other."""
    readings = {
        label: reading[0] for label, reading in sample.processes.items() if reading is not None
    }
    places = [*readings.items(), ("host", sample.host[0])]
    for (first, earlier), (second, later) in pairwise([("the line", sample.monotonic), *places]):
        if later < earlier:
            yield f"{second} was read before {first}: their readings were exchanged"


def _fallen(before: Sample, after: Sample) -> Iterator[str]:
    """What is smaller in the later of two samples, though it only ever grows."""
    if after.monotonic <= before.monotonic:
        yield "the monotonic clock does not go on"
    if (before.network is None) != (after.network is None):
        yield "only some samples have counters of the network"
    if [*before.processes] != [*after.processes]:
        yield "its processes are not those of the line before"
    pairs = [("host", before.host, after.host)]
    for label, earlier in before.processes.items():
        later = after.processes.get(label)
        if earlier is not None and later is not None:
            pairs.append((label, earlier[:3], later[:3]))
    for label, old, new in pairs:
        if new[0] <= old[0] or new[1] < old[1] or new[2] < old[2]:
            yield f"the counters of {label} fell: it is another process than before"
    if before.network and after.network:
        yield from _fallen_network(before.network, after.network)


def _fallen_network(before: Network, after: Network) -> Iterator[str]:
    if after.at <= before.at:
        yield "the counters of the network are not later than those before"
    if after.speeds != before.speeds:
        yield "the speeds of the network, which the probe asks for once, are others than before"
    if (LOOPBACK in before.bytes) != (LOOPBACK in after.bytes):
        yield f"only some samples have counters of {LOOPBACK}"
    for interface, old in before.bytes.items():
        new = after.bytes.get(interface, old)
        if new[0] < old[0] or new[1] < old[1]:
            yield f"the counters of {interface} fell"
    if before.segments and after.segments:
        (sent, retransmitted), (sent_later, retransmitted_later) = before.segments, after.segments
        if sent_later < sent or retransmitted_later < retransmitted:
            yield "the counters of TCP fell"


def _inside(log: Sequence[Sample], window: tuple[float, float]) -> list[Sample]:
    """The samples of the window, both ends included."""
    start, end = window[0] - TOLERANCE_S, window[1] + TOLERANCE_S
    return [sample for sample in log if start <= sample.epoch <= end]


def _retransmitted_share(
    first: tuple[int, int] | None, last: tuple[int, int] | None
) -> float | None:
    if first is None or last is None or last[0] == first[0]:
        return None
    return (last[1] - first[1]) / (last[0] - first[0])


def _reading(sample: Sample, label: str) -> Usage | None:
    if label == WHOLE_HOST:
        at, busy, system = sample.host
        return at, busy, system, None
    reading = sample.processes.get(label)
    if reading is None:
        return None
    at, user, system, rss = reading
    return at, user + system, system, rss


def _all_lives(log: Sequence[Sample], label: str) -> list[Usage]:
    """Readings of a process that was started again, as if its counters had gone on.

    Those of each life begin at zero, when it was started.
    """
    readings: list[Usage] = []
    before = counted = (0.0, 0.0)
    rss: int | None
    for sample in log:
        if (reading := _reading(sample, label)) is None:
            before, rss = counted, None
        else:
            _, total, system, rss = reading
            counted = before[0] + total, before[1] + system
        readings.append((sample.monotonic, *counted, rss))
    return readings


def _usage(
    first: tuple[float, Usage],
    last: tuple[float, Usage],
) -> dict[str, float | int | None]:
    (start_s, (at, total, system, _)), (end_s, (until, total_end, system_end, rss)) = first, last
    return {
        "start_s": start_s,
        "end_s": end_s,
        "total_cores": (total_end - total) / (until - at),
        "sys_cores": (system_end - system) / (until - at),
        "rss_bytes": rss,
    }
