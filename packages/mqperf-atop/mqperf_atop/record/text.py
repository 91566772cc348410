"""Output of ``atop -r FILE -P PRC,CPU``: its blocks, and rows of the table ``cpu`` made of them.

Columns are counted from the left, up to the system time and the mark of a process, where atop 2.1
to 2.13 agree: man page of atop, section on parseable output.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mqperf.base import raw
from mqperf.base.errors import ProbeError

if TYPE_CHECKING:
    import pandas as pd

HOST = re.compile(rb"CPU \S+ (\d+) \S+ \S+ ([1-9]\d*) ([1-9]\d*) (\d+) ((?:\d+ ){7}\d+)")
"""End in epoch seconds, seconds, ticks per second, cores; then ticks: system, user, nice, ..."""

RESET = b"RESET\n"
"""Line before a block that counts from the boot on."""

SEPARATOR = b"\nSEP\n"
CHUNK_BYTES = 256 * 1024
BLOCK_LIMIT_BYTES = 64 * raw.MIB
"""Largest size of one sample: hundreds of thousands of processes."""

SLACK_S = 0.5
"""By how much an interval may exceed the window, as atop's instants are whole seconds."""

MACHINE = "host"
"""The key of the whole host among those of ``Interval.used``."""

Used = tuple[float, float]
"""Seconds of CPU: in total, and in system mode."""


@dataclass(frozen=True, slots=True)
class Interval:
    """CPU used between two samples, by the host, and by processes under keys of a reader."""

    end: int
    seconds: int
    cores: int
    used: Mapping[str, Used]

    @property
    def start(self) -> int:
        """The begin of the interval in epoch seconds."""
        return self.end - self.seconds


@dataclass(frozen=True, slots=True)
class Named:
    """The columns by which rows of the table ``cpu`` identify a process or host."""

    process: str
    kind: str
    host: str


def blocks(file: Path) -> Iterator[bytes]:
    """Yield the samples of a file, the text between separators, without loading it as a whole."""
    rest = b""
    with raw.opened(file) as lines:
        while chunk := lines.read(CHUNK_BYTES):
            *whole, rest = (rest + chunk).split(SEPARATOR)
            if len(rest) > BLOCK_LIMIT_BYTES:
                raise ProbeError(f"{file}: {len(rest)} bytes without a line SEP: no record of atop")
            yield from filter(None, whole)
    if rest := rest.removesuffix(b"SEP\n").rstrip(b"\n"):
        yield rest


def host_of(block: bytes) -> re.Match[bytes] | None:
    """Return the match of a block's line CPU, which is mostly the first."""
    if first := HOST.match(block, len(RESET) if block.startswith(RESET) else 0):
        return first
    at = block.find(b"\nCPU ")
    return HOST.match(block, at + 1) if at >= 0 else None


def used(hertz: int, user: int, system: int) -> Used:
    """Return ticks as seconds."""
    return (user + system) / hertz, system / hertz


def together(uses: Iterable[Used]) -> Used:
    """Return the sum over several processes or intervals."""
    totals, systems = zip((0.0, 0.0), *uses, strict=True)
    return sum(totals), sum(systems)


def interval(host: re.Match[bytes], processes: Mapping[str, Used]) -> Interval:
    """Return the interval of a block, from its line CPU and the CPU of processes."""
    system, user, nice, _idle, _wait, irq, softirq, steal = map(int, host[5].split()[:8])
    busy = used(int(host[3]), user + nice + steal, system + irq + softirq)
    return Interval(int(host[1]), int(host[2]), int(host[4]), {**processes, MACHINE: busy})


def rows(
    intervals: Sequence[Interval],
    names: Mapping[str, Named],
    window: tuple[float, float],
    ahead_s: float = 0.0,
) -> "pd.DataFrame":
    """Return rows of the table ``cpu`` for each key in ``names``: by interval, and over the window.

    A process without a line was idle, and used nothing.  There is no row for the window if a second
    of it is missing.  The host's clock was ``ahead_s`` ahead of that of the window.
    """
    import pandas as pd

    begin, end = window[0] + ahead_s, window[1] + ahead_s
    inside = [
        span for span in intervals if span.start >= begin - SLACK_S and span.end <= end + SLACK_S
    ]
    groups = [("interval", [span]) for span in inside]
    if inside and sum(span.seconds for span in inside) >= end - begin - SLACK_S:
        groups.append(("window", inside))
    return pd.DataFrame(
        [
            {**asdict(named), "scope": scope, **_usage(key, spans, begin)}
            for scope, spans in groups
            for key, named in names.items()
        ]
    )


def _usage(key: str, spans: Sequence[Interval], begin: float) -> dict[str, object]:
    seconds = sum(span.seconds for span in spans)
    total_s, system_s = together(span.used.get(key, (0.0, 0.0)) for span in spans)
    return {
        "cores": spans[0].cores,
        "start_s": spans[0].start - begin,
        "end_s": spans[-1].end - begin,
        "total_cores": total_s / seconds,
        "sys_cores": system_s / seconds,
    }
