"""A run of plans as every door has it: its progress told, its runs judged for those that follow."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack

from rich.console import Console

from mqperf.front.judging import Deciders, judged
from mqperf.front.live import Pulse
from mqperf.front.progress import Bar
from mqperf.lab.runner import Job, Judges, Outcome, sweep_all


def measured(
    jobs: Sequence[Job],
    console: Console,
    shown: Callable[[Pulse], AbstractContextManager[object]] | None,
    *,
    interleave: bool = False,
    hosts: str | None = None,
) -> list[Outcome]:
    """Run what is pending of every job, and tell of it on the console.

    ``shown`` also shows the pulse of the runs for as long as they last, if somebody looks on.
    Raises as ``sweep_all`` does.
    """
    with ExitStack() as held:
        pulse = None
        if shown is not None:
            pulse = Pulse()
            held.enter_context(shown(pulse))
        bar = held.enter_context(Bar(console, pulse))
        judges = Judges(judged, Deciders())
        return sweep_all(jobs, bar, interleave=interleave, hosts=hosts, judges=judges)
