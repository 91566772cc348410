"""Plans that are run: one, several one after the other, or their repeats in turns."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from mqperf.errors import PlanError, SystemFault
from mqperf.hosts import HERE, HostKind, lookup
from mqperf.plan import Case, Plan, deployments
from mqperf.probes import chosen
from mqperf.record import Run, recording
from mqperf.runner.observer import Observer
from mqperf.runner.probing import check_programs
from mqperf.runner.sweep import Ended, Sweep, swept
from mqperf.systems import possible


@dataclass(frozen=True, slots=True)
class Job:
    """A plan to run, its text as it was given, and the folder for its runs."""

    plan: Plan
    text: str
    runs: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a plan."""

    done: int
    failed: tuple[tuple[Run, str], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What is run of one plan before the next plan comes; ``number`` is the plan's among all."""

    number: int
    words: str
    cases: Sequence[Case]


def sweep(
    plan: Plan, text: str, runs: Path, observer: Observer, *, hosts: str | None = None
) -> Outcome:
    """Run what is pending of ``plan`` into the folder ``runs``; ``text`` is the plan as given.

    It does for one plan what ``sweep_all`` does for several, and raises the same.
    """
    [outcome] = sweep_all([Job(plan, text, runs)], observer, hosts=hosts)
    return outcome


def sweep_all(
    jobs: Sequence[Job], observer: Observer, *, interleave: bool = False, hosts: str | None = None
) -> list[Outcome]:
    """Run what is pending of every plan into its folder: one plan after the other, or in turns.

    With ``interleave`` the first repeat of every plan runs before the second of any, so that what
    changes with time meets all alike.  Every other turn has the plans in reverse order, so that it
    favours none to come first.  Systems are started anew for each turn.  ``hosts`` is the kind of
    hosts on which brokers, clients and servers run, or the path of their inventory; None is what
    each plan says, or this machine.

    A run that fails, and a case that cannot be measured here, is recorded with its reason, and the
    rest goes on.  A folder with nothing pending is not touched.  Raises ``PlanError`` when a plan
    asks for what does not exist, or plans cannot take turns, ``HostError`` for a kind of host that
    there is not and for a host without the program of a probe, ``SystemFault`` when nothing of them
    can be measured here, ``RecordError`` when a folder is in use or cannot be written.  Must be
    called from a thread that lives until it returns.
    """
    if interleave:
        _check_turns([job.plan for job in jobs])
    kinds = [lookup(job.plan.hosts or HERE if hosts is None else hosts) for job in jobs]
    sweeps = [
        _sweep(job, kind, observer, interleave=interleave)
        for job, kind in zip(jobs, kinds, strict=True)
    ]
    _check_possible(sweeps)
    ended: list[list[Ended]] = [[] for _ in jobs]
    with ExitStack() as held:
        for job, one in zip(jobs, sweeps, strict=True):
            if one.pending():
                held.enter_context(recording(job.runs, one.as_measured(job.text)))
        steps = _steps(sweeps, interleave=interleave)
        _tell(steps, sweeps, observer)
        for step in steps:
            if len(jobs) > 1:
                observer.doing(step.words)
            with closing(swept(sweeps[step.number], step.cases)) as sweeping:
                for each in sweeping:
                    observer.finished(*each)
                    ended[step.number].append(each)
    return [_outcome(some) for some in ended]


def in_turns(plans: Sequence[Plan]) -> Iterator[tuple[int, int]]:
    """Numbers of plan and turn, from 0, in their order: every other turn is the other way round."""
    for turn in range(plans[0].repeats):
        numbers = range(len(plans))
        yield from ((number, turn) for number in (reversed(numbers) if turn % 2 else numbers))


def _check_turns(plans: Sequence[Plan]) -> None:
    if len(plans) == 1:
        raise PlanError(
            f"plan {plans[0].name} is alone, and takes no turns: give the plans that it is to"
            " be interleaved with, or leave out --interleave"
        )
    if len({plan.repeats for plan in plans}) > 1:
        numbers = ", ".join(f"{plan.name} has {plan.repeats}" for plan in plans)
        raise PlanError(
            f"plans in turns need the same number of repeats: {numbers}; set repeats: in the plans,"
            " or leave out --interleave"
        )


def _sweep(job: Job, kind: HostKind, observer: Observer, *, interleave: bool) -> Sweep:
    with kind.reached() as hosts:
        here = possible(job.plan, hosts)
        check_programs(chosen(job.plan.probes), hosts)
    turns = here.plan.turns() if interleave else [here.plan.cases()]
    order = [case for turn in turns for case in turn]
    positions = {case.id: number for number, case in enumerate(order, 1)}
    return Sweep(here, job.runs, order, positions, observer, kind)


def _check_possible(sweeps: Sequence[Sweep]) -> None:
    """Refuse when there is something to do, and nothing of it can be measured here."""
    todo = [(one.here, case) for one in sweeps for case in one.pending()]
    if todo and all(here.refusal(case) for here, case in todo):
        reasons = [reason for one in sweeps for reason in one.here.refused.values()]
        raise SystemFault("; ".join(dict.fromkeys(reasons)))


def _steps(sweeps: Sequence[Sweep], *, interleave: bool) -> list[Step]:
    """What is pending, in the order in which it is to run."""
    plans = [one.here.plan for one in sweeps]
    todo = [one.pending() for one in sweeps]
    ids = [{case.id for case in some} for some in todo]
    if not interleave:
        steps = [Step(n, f"plan {plan.name}", todo[n]) for n, plan in enumerate(plans)]
    else:
        turns = [plan.turns() for plan in plans]
        steps = [
            Step(
                number,
                f"plan {plans[number].name}, repeat {turn + 1} of {plans[number].repeats}",
                [case for case in turns[number][turn] if case.id in ids[number]],
            )
            for number, turn in in_turns(plans)
        ]
    return [step for step in steps if step.cases]


def _tell(steps: Sequence[Step], sweeps: Sequence[Sweep], observer: Observer) -> None:
    todo = [case for step in steps for case in step.cases]
    starts = sum(_starts(sweeps[step.number], step) for step in steps)
    done = sum(len(one.order) for one in sweeps) - len(todo)
    observer.planned(todo, done, starts)


def _starts(one: Sweep, step: Step) -> int:
    """How often the step has to start a system."""
    return len(deployments(case for case in step.cases if not one.here.refusal(case)))


def _outcome(ended: Sequence[Ended]) -> Outcome:
    failed = tuple((run, failure) for _, run, failure in ended if failure is not None)
    return Outcome(len(ended) - len(failed), failed)
