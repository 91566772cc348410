"""Execution of plans for all user interfaces, with progress, and verdicts that choose next runs."""

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
    """Run the pending cases of every job, with progress on the console.

    ``shown``, if given, is a live view of the pulse of the runs while they last.  Raises as
    ``sweep_all`` does.
    """
    with ExitStack() as stack:
        pulse = None
        if shown is not None:
            pulse = Pulse()
            stack.enter_context(shown(pulse))
        bar = stack.enter_context(Bar(console, pulse))
        judges = Judges(judged, Deciders())
        return sweep_all(jobs, bar, interleave=interleave, hosts=hosts, judges=judges)


def recorded(runs: Path, outcome: Outcome) -> str:
    """Return a sentence on the numbers of new and earlier runs of a plan."""
    if outcome.kept and not outcome.done and not outcome.failed:
        return f"nothing to run: {amount(outcome.kept, 'run')} already recorded in {runs}"
    before = f", in addition to {outcome.kept} before" if outcome.kept else ""
    return f"{amount(outcome.done, 'run')} recorded in {runs}{before}"


def differences(jobs: Sequence[Job]) -> Iterator[str]:
    """Yield lines on the differences of each pair of plans with a decision between them."""
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
