"""What each process was seen to do in the window of a run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from mqperf.record import Whole
from mqperf_flame.record.recorded import ABOUT, Frames, recorded

NS = 1e-9


@dataclass(frozen=True, slots=True)
class Profile:
    """A process on a host: how often each of its stacks was seen, in so many seconds."""

    host: str
    process: str
    stacks: Counter[Frames]
    period_s: float
    seconds: int

    @property
    def samples(self) -> int:
        """All samples of it."""
        return self.stacks.total()

    def cores(self, samples: int) -> float:
        """The CPU that so many of them stand for."""
        return samples * self.period_s / self.seconds


def profiles(run: Whole) -> Iterator[Profile]:
    """Those of the window, host by host, brokers first; raises as ``recorded`` does."""
    begin, end = run.window_in_load
    kinds = [*run.facts.kinds]
    for file in sorted(run.run.path.glob(f"probes/*/{ABOUT}")):
        record = recorded(file.parent)
        stacks = record.within(begin, end)
        for label in sorted(stacks, key=lambda label: (label not in kinds, kinds.index(label))):
            seconds, period_s = int(end - begin), record.about.period_ns * NS
            yield Profile(file.parent.name, label, stacks[label], period_s, seconds)
