"""Reads and checks the record of the probe in the folder of a host."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import ProbeError
from mqperf.record import Whole
from mqperf_flame.onhost.recorder import ABOUT, FOLDED

Frames = tuple[str, ...]
"""Names of functions, from the outermost on."""

DEEPEST = 2_000
"""The most frames of a stack; the kernel's default is 127."""

SECONDS = 10_000_000
"""The seconds of the longest load."""


class About(BaseModel, frozen=True, strict=True):
    """How a record was made: with which ``version`` of perf, in how many ``seconds`` of load.

    Each sample stands for ``period_ns`` of CPU.
    """

    version: str
    period_ns: int = Field(gt=0, le=10**12)
    seconds: int = Field(ge=0, le=SECONDS)


@dataclass(frozen=True, slots=True)
class Seen:
    """A stack of a process, and its number of samples in a second of the load."""

    second: int
    process: str
    frames: Frames
    samples: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """The record of one host."""

    about: About
    seen: Sequence[Seen]

    def within(self, begin_s: float, end_s: float) -> dict[str, Counter[Frames]]:
        """Return the samples of each stack by process, in the whole seconds between both times."""
        stacks: dict[str, Counter[Frames]] = {}
        for each in self.seen:
            if begin_s <= each.second and each.second + 1 <= end_s:
                stacks.setdefault(each.process, Counter())[each.frames] += each.samples
        return stacks


def recorded(folder: Path) -> Recorded:
    """Return the record in the folder of a host.

    Raises ``ProbeError`` with file and line if it is missing, cut short or malformed.
    """
    file = folder / ABOUT
    try:
        about = About.model_validate_json(raw.content(file))
        file = folder / FOLDED
        content = raw.content(file).decode(errors="replace")
    except OSError as error:
        raise ProbeError(f"{file}: no record of the probe flame: {error.strerror}") from None
    except ValidationError as error:
        raise ProbeError(f"{file}:1: {raw.first_problem(error)}") from None
    return Recorded(about, [*_seen(file, content, about.seconds)])


@lru_cache(maxsize=1)  # the tables of a run are made in succession
def records(run: Whole) -> Mapping[Path, Recorded]:
    """Return the records of a run by the folders of its hosts; raises as ``recorded`` does."""
    files = sorted(run.run.path.glob(f"probes/*/{ABOUT}"))
    return {file.parent: recorded(file.parent) for file in files}


def check(folder: Path, _host: str) -> None:
    """Raise ``ProbeError`` unless the folder of a host holds a sound record."""
    recorded(folder)


def _seen(file: Path, content: str, seconds: int) -> Iterator[Seen]:
    """Yield the lines of the file, parsed; ``seconds`` is the length of the load."""
    lines = content.split("\n")
    if lines.pop():
        raise ProbeError(f"{file}:{len(lines) + 1}: the record is cut short")
    for number, line in enumerate(lines, 1):
        stack, _, samples = line.rpartition(" ")
        second, *names = stack.split(";")
        if not (second.isdecimal() and samples.isdecimal() and 0 < len(names) <= DEEPEST):
            raise ProbeError(f"{file}:{number}: no folded stack of the probe flame")
        if int(second) >= seconds:
            raise ProbeError(f"{file}:{number}: second {second} of a load of {seconds} s")
        yield Seen(int(second), names[0], tuple(names[1:]), int(samples))
