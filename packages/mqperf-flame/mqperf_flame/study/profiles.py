"""The sampled stacks of each process in the window of a run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

from mqperf.record import Whole
from mqperf_flame.record.recorded import Frames, records

NS = 1e-9


@dataclass(frozen=True, slots=True)
class Profile:
    """A process on a host: the samples of each of its stacks in ``seconds``, one a period."""

    host: str
    process: str
    stacks: Counter[Frames]
    period_s: float
    seconds: int

    @property
    def samples(self) -> int:
        """The samples of all stacks."""
        return self.stacks.total()

    def cores(self, samples: int) -> float:
        """Return the mean number of cores in use that so many samples stand for."""
        return samples * self.period_s / self.seconds


def profiles(run: Whole) -> Iterator[Profile]:
    """Yield profiles of the window, host by host, brokers first; raises as ``recorded`` does."""
    begin, end = run.window_in_load
    seconds = floor(end) - ceil(begin)
    for folder, record in records(run).items():
        stacks, period_s = record.within(begin, end), record.about.period_ns * NS
        for label in (label for label in run.facts.kinds if label in stacks):
            yield Profile(folder.name, label, stacks[label], period_s, seconds)
