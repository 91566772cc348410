"""The psutil probe: how to start it, and how to read what it wrote.

The program itself is ``psutil_sampler.py``.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mqperf.errors import ProbeError

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = Path(__file__).with_name("psutil_sampler.py")
LOG = "psutil.jsonl"
TOLERANCE_S = 0.5
"""A sample further than this from its second is not taken as an end of the window."""


@dataclass(frozen=True, slots=True)
class Target:
    """A process to watch, under the label that tables will show."""

    label: str
    kind: Literal["broker", "client", "server", "harness"]
    pid: int
    children: bool = False


def command(targets: Sequence[Target], control: Path, seconds: int, out: Path) -> list[str]:
    """Arguments that start the probe; it waits for the start file and stops by itself.

    Writes the list of targets beside the start file, so that no pid is in the arguments.
    """
    listing = control / "psutil.targets"
    listing.write_text(json.dumps([asdict(target) for target in targets]))
    return [
        *(sys.executable, "-I", str(PROGRAM), "--control", str(control), "--targets", str(listing)),
        *("--seconds", str(seconds), "--out", str(out)),
    ]


def read(
    file: Path, kinds: dict[str, str], window: tuple[float, float], host: str = "local"
) -> "pd.DataFrame":
    """Rows of the ``cpu`` table: every process in every second of the window, and over all of it.

    ``kinds`` maps the label of each process to its kind; ``window`` is in epoch seconds.  A second
    without a sample gives no row; a process that had died gives none from then on.  Raises
    ``ProbeError`` for a log that is missing or cut short.
    """
    import pandas as pd

    inside = _inside(file, window)
    rows = []
    for label in [*kinds, "host"]:
        series = [(s["epoch"] - window[0], _reading(s, label)) for s in inside]
        known = [(at, reading) for at, reading in series if reading is not None]
        kind = kinds.get(label, "host")
        pairs = [(a, b, "interval") for a, b in pairwise(known)]
        if len(known) == len(series) > 1:
            pairs.append((known[0], known[-1], "window"))
        rows += [
            {"process": label, "kind": kind, "host": host, "scope": scope, **_usage(a, b)}
            for a, b, scope in pairs
        ]
    return pd.DataFrame(rows)


def read_network(file: Path, window: tuple[float, float], host: str = "local") -> "pd.DataFrame":
    """Rows of the ``network`` table: every interface that carried anything over the window.

    No rows for a log which ends before the window or which was written without network counters.
    Raises ``ProbeError`` as ``read`` does.
    """
    import pandas as pd

    known = [sample["network"] for sample in _inside(file, window) if "network" in sample]
    if len(known) < 2:
        return pd.DataFrame()
    first, last = known[0], known[-1]
    seconds = last["at"] - first["at"]
    resent = _resent_share(first["segments"], last["segments"])
    rows = []
    for interface, counted in last["bytes"].items():
        before = first["bytes"].get(interface, counted)
        sent, received = (b - a for a, b in zip(before, counted, strict=True))
        if sent or received:
            rows.append(
                {
                    "host": host,
                    "interface": interface,
                    "sent_bytes_s": sent / seconds,
                    "received_bytes_s": received / seconds,
                    "speed_bytes_s": last["speeds"].get(interface),
                    "resent_share": resent,
                }
            )
    return pd.DataFrame(rows)


def clock_step_s(file: Path) -> float:
    """By how much the wall clock was set during the log, against the monotonic clock."""
    offsets = [sample["epoch"] - sample["monotonic"] for sample in _samples(file)]
    return max((offset - offsets[0] for offset in offsets), key=abs, default=0.0)


def _samples(file: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ProbeError(f"{file}: no log of the psutil probe: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        try:
            yield json.loads(line)
        except ValueError:
            raise ProbeError(f"{file}:{number}: the psutil log is cut short") from None


def _inside(file: Path, window: tuple[float, float]) -> list[dict[str, Any]]:
    """The samples of the window, both ends included."""
    start, end = window[0] - TOLERANCE_S, window[1] + TOLERANCE_S
    return [sample for sample in _samples(file) if start <= sample["epoch"] <= end]


def _resent_share(first: list[int] | None, last: list[int] | None) -> float | None:
    if first is None or last is None or last[0] == first[0]:
        return None
    return (last[1] - first[1]) / (last[0] - first[0])


def _reading(sample: dict[str, Any], label: str) -> tuple[float, float, float, int | None] | None:
    if label == "host":
        at, busy, system = sample["host"]
        return at, busy, system, None
    reading = sample["processes"].get(label)
    if reading is None:
        return None
    at, user, system, rss = reading
    return at, user + system, system, rss


def _usage(
    first: tuple[float, tuple[float, float, float, int | None]],
    last: tuple[float, tuple[float, float, float, int | None]],
) -> dict[str, float | int | None]:
    (start_s, (at, total, system, _)), (end_s, (until, total_end, system_end, rss)) = first, last
    return {
        "start_s": start_s,
        "end_s": end_s,
        "total_cores": (total_end - total) / (until - at),
        "sys_cores": (system_end - system) / (until - at),
        "rss_bytes": rss,
    }
