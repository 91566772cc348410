"""A run of plans as every door has it: its progress told, its runs judged for those that follow."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from rich.console import Console

from mqperf.base.one_line import amount
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


def recorded(runs: Path, outcome: Outcome) -> str:
    """How many runs of a plan there are now, and from when."""
    if outcome.kept and not outcome.done and not outcome.failed:
        return f"nothing to run: {amount(outcome.kept, 'run')} recorded in {runs} already"
    before = f", beside {outcome.kept} from before" if outcome.kept else ""
    return f"{amount(outcome.done, 'run')} recorded in {runs}{before}"


def differences(jobs: Sequence[Job]) -> Iterator[str]:
    """Lines of how two plans differ that decided between each other; none of other plans."""
    from mqperf.front.api import compare  # pandas is not loaded before the first run is over

    folders = {job.plan.name: job.runs for job in jobs}
    for names in {job.plan.decide.plans: None for job in jobs if job.plan.decide}:
        if names:
            first, second = (folders[name] for name in names)
            yield from (
                "",
                f"{names[1]} (B) against {names[0]} (A):",
                *compare(first, second).lines(),
            )
