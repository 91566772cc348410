"""What atop recorded, as ``atop -r FILE -P PRC,CPU`` prints it: its blocks, and rows made of them.

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
"""End in epoch seconds, seconds, ticks a second, cores; then ticks: system, user, nice, ..."""

RESET = b"RESET\n"
"""Before a block that counts from the boot on."""

SEPARATOR = b"\nSEP\n"
CHUNK_BYTES = 256 * 1024
BLOCK_LIMIT_BYTES = 64 * raw.MIB
"""Of one sample: hundreds of thousands of processes."""

SLACK_S = 0.5
"""How far an interval may reach out of the window; atop's instants are whole seconds."""

MACHINE = "host"
"""The key of what the whole host used."""

Used = tuple[float, float]
"""Seconds of CPU, and those of them in system."""


@dataclass(frozen=True, slots=True)
class Interval:
    """What was used between two samples: by the host, and by processes under keys of a reader."""

    end: int
    seconds: int
    cores: int
    used: Mapping[str, Used]

    @property
    def start(self) -> int:
        """Its begin in epoch seconds."""
        return self.end - self.seconds


@dataclass(frozen=True, slots=True)
class Named:
    """What rows say of whom they are about."""

    process: str
    kind: str
    host: str


def blocks(file: Path) -> Iterator[bytes]:
    """What stands between separators, one sample after the other, whatever the file's length."""
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
    """The line CPU of a block, which is mostly the first."""
    if first := HOST.match(block, len(RESET) if block.startswith(RESET) else 0):
        return first
    at = block.find(b"\nCPU ")
    return HOST.match(block, at + 1) if at >= 0 else None


def used(hertz: int, user: int, system: int) -> Used:
    """Ticks as seconds."""
    return (user + system) / hertz, system / hertz


def together(uses: Iterable[Used]) -> Used:
    """What several used, or one of them in several intervals."""
    totals, systems = zip((0.0, 0.0), *uses, strict=True)
    return sum(totals), sum(systems)


def interval(host: re.Match[bytes], processes: Mapping[str, Used]) -> Interval:
    """What a block tells: ``host`` is its line CPU, ``processes`` come from the others."""
    system, user, nice, _idle, _wait, irq, softirq, steal = map(int, host[5].split()[:8])
    busy = used(int(host[3]), user + nice + steal, system + irq + softirq)
    return Interval(int(host[1]), int(host[2]), int(host[4]), {**processes, MACHINE: busy})


def rows(
    intervals: Sequence[Interval],
    names: Mapping[str, Named],
    window: tuple[float, float],
    ahead_s: float = 0.0,
) -> "pd.DataFrame":
    """Rows of the table ``cpu``: of each key in ``names``, by interval and over the window.

    An idle process, which atop may leave out, used nothing.  There is no row for the window when a
    second of it is missing.  The clock of the host was ``ahead_s`` ahead of that of the window.
    """
    import pandas as pd

    begin, end = window[0] + ahead_s, window[1] + ahead_s
    inside = [
        span for span in intervals if span.start >= begin - SLACK_S and span.end <= end + SLACK_S
    ]
    parts = [("interval", [span]) for span in inside]
    if inside and sum(span.seconds for span in inside) >= end - begin - SLACK_S:
        parts.append(("window", inside))
    return pd.DataFrame(
        [
            {**asdict(named), "scope": scope, **_usage(key, part, begin)}
            for scope, part in parts
            for key, named in names.items()
        ]
    )


def _usage(key: str, part: Sequence[Interval], begin: float) -> dict[str, object]:
    seconds = sum(span.seconds for span in part)
    total_s, system_s = together(span.used.get(key, (0.0, 0.0)) for span in part)
    return {
        "cores": part[0].cores,
        "start_s": part[0].start - begin,
        "end_s": part[-1].end - begin,
        "total_cores": total_s / seconds,
        "sys_cores": system_s / seconds,
    }
