"""Select a probe's samples within the window of a run, by host."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

from mqperf.record import Whole

NEAR_S = 0.5
"""Samples this close to the ends of the window, on either side, belong to it."""


class Sampled(Protocol):
    """A sample with the time of its host's clock."""

    @property
    def epoch(self) -> float:
        """Seconds since 1970."""


S = TypeVar("S", bound=Sampled)


def in_window(
    run: Whole, log: str, samples: Callable[[Path], Iterable[S]]
) -> Iterator[tuple[str, list[S]]]:
    """Yield each host with a log of that name, and its ``samples`` of the window, in order."""
    begin, end = run.window
    for file in sorted(run.run.path.glob(f"probes/*/{log}")):
        host = file.parent.name
        ahead_s = run.clock(host).offset_s
        within = [
            sample
            for sample in samples(file)
            if begin - NEAR_S < sample.epoch - ahead_s < end + NEAR_S
        ]
        yield host, within
