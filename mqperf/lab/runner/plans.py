"""Running plans: one plan, several in sequence, or their repeats interleaved."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mqperf.base.errors import PlanError, RecordError, SystemFault
from mqperf.hosts import HostKind, lookup
from mqperf.lab.probes import chosen
from mqperf.lab.runner.deciding import Decider, Deciding, together
from mqperf.lab.runner.linking import check_links
from mqperf.lab.runner.observer import Observer
from mqperf.lab.runner.probing import check_programs
from mqperf.lab.runner.searching import Judge, Searching
from mqperf.lab.runner.sweep import Ended, Sweep, swept
from mqperf.lab.systems import starts
from mqperf.lab.systems.possible import Possible, check_places, possible
from mqperf.plan import Case, Plan
from mqperf.record import Run, recording, runs


@dataclass(frozen=True, slots=True)
class Job:
    """A plan to run, its text as it was given, and the folder for its runs.

    ``only``, if given, is the end of the id of the only case to run.
    """

    plan: Plan
    text: str
    runs: Path
    only: str = ""


@dataclass(frozen=True, slots=True)
class Judges:
    """Functions that evaluate whole runs for searches and decisions; the runner reads none."""

    search: Judge | None = None
    decide: Decider | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a plan; ``kept`` is the number of runs that were whole before."""

    done: int
    failed: tuple[tuple[Run, str], ...]
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """Cases of one plan to run before the next plan; ``number`` is the index of the plan."""

    number: int
    words: str
    cases: Sequence[Case]


def sweep(
    plan: Plan, text: str, runs: Path, observer: Observer, *, hosts: str | None = None
) -> Outcome:
    """Run what is pending of ``plan`` into the folder ``runs``; ``text`` is the plan as given.

    Does and raises what ``sweep_all`` does for several plans; a plan with a search needs
    ``sweep_all``, which accepts a judge.
    """
    [outcome] = sweep_all([Job(plan, text, runs)], observer, hosts=hosts)
    return outcome


def sweep_all(
    jobs: Sequence[Job],
    observer: Observer,
    *,
    interleave: bool = False,
    hosts: str | None = None,
    judges: Judges | None = None,
) -> list[Outcome]:
    """Run the pending cases of every plan into its folder: plan by plan, or interleaved.

    With ``interleave`` the first repeat of every plan runs before the second of any, so that
    changes over time affect all plans alike.  Every other turn has the plans in reverse order, so
    that being first favours none.  Systems are restarted for each turn.  ``hosts`` is the kind of
    hosts on which brokers, clients and servers run, or the path of their inventory; None is the
    choice of each plan, or this machine.  ``judges`` evaluate whole runs; plans whose next run
    depends on results need them.

    A run that fails, and a case that cannot be measured here, is recorded with its reason, and the
    sweep continues.  A folder without pending cases is not touched.  Raises ``PlanError`` for a
    plan with unknown items, or plans that cannot be interleaved, ``HostError`` for an unknown kind
    of host, a host without the program of a probe, or a link that cannot be created between its
    hosts, ``SystemFault`` when none of the cases can be measured here, ``RecordError`` when a
    folder is in use or cannot be written.  Must be called from a thread that lives until it
    returns.
    """
    if interleave:
        _check_turns([job.plan for job in jobs])
    kinds = [lookup(job.plan.hosts, hosts) for job in jobs]
    sweeps = [
        _sweep(job, kind, observer, judges or Judges(), interleave=interleave)
        for job, kind in zip(jobs, kinds, strict=True)
    ]
    _decide(jobs, sweeps, observer, judges or Judges())
    _check_possible(sweeps)
    ended: list[list[Ended]] = [[] for _ in jobs]
    kept = [_done(plan_sweep) for plan_sweep in sweeps]
    with ExitStack() as held:
        for job, plan_sweep in zip(jobs, sweeps, strict=True):
            if plan_sweep.pending():
                held.enter_context(recording(job.runs, plan_sweep.as_measured(job.text)))
        turns = _turns(sweeps, interleave=interleave)
        _announce(turns, sweeps, observer)
        for turn in _each_turn(turns, sweeps):
            if len(jobs) > 1 or sweeps[turn.number].deciding:
                observer.doing(turn.words)
            with closing(swept(sweeps[turn.number], turn.cases)) as sweeping:
                for each in sweeping:
                    observer.finished(*each)
                    ended[turn.number].append(each)
    return [_outcome(*each) for each in zip(ended, kept, strict=True)]


def in_turns(plans: Sequence[Plan]) -> Iterator[tuple[int, int]]:
    """Yield indexes of plan and turn in execution order: every other turn is reversed."""
    for turn in range(plans[0].repeats):
        numbers = range(len(plans))
        yield from ((number, turn) for number in (reversed(numbers) if turn % 2 else numbers))


def _each_turn(turns: Sequence[Turn], sweeps: Sequence[Sweep]) -> Iterator[Turn]:
    """Yield the turns; plans with ``decide`` have as many as their results require."""
    for turn in turns:
        if (deciding := sweeps[turn.number].deciding) is None:
            yield turn
        else:
            for number, repeat, cases in deciding.turns():
                yield Turn(number, f"plan {sweeps[number].here.plan.name}, {repeat}", cases)


def _check_turns(plans: Sequence[Plan]) -> None:
    if searching := [plan.name for plan in plans if plan.search is not None]:
        raise PlanError(
            f"plan {searching[0]} has a search, and cannot take turns: its runs depend on its"
            " results; leave out --interleave"
        )
    if deciding := [plan.name for plan in plans if plan.decide is not None]:
        raise PlanError(
            f"plan {deciding[0]} decides by its own results, and cannot take turns with another:"
            " leave out --interleave"
        )
    if len(plans) == 1:
        raise PlanError(
            f"plan {plans[0].name} is alone, and cannot take turns: give the plans to interleave"
            " it with, or leave out --interleave"
        )
    if len({plan.repeats for plan in plans}) > 1:
        numbers = ", ".join(f"{plan.name} has {plan.repeats}" for plan in plans)
        raise PlanError(
            f"plans in turns need the same number of repeats: {numbers}; set repeats: in the plans,"
            " or leave out --interleave"
        )


def _sweep(
    job: Job,
    kind: HostKind,
    observer: Observer,
    judges: Judges,
    *,
    interleave: bool,
) -> Sweep:
    with kind.reached() as hosts:
        here = possible(job.plan, hosts)
        check_places(job.plan, hosts)
        check_programs(chosen(job.plan.probes), hosts)
        check_links(job.plan, hosts)
    if here.plan.search is not None:
        if job.only:
            raise PlanError(f"plan {here.plan.name} has a search, not cases: leave out --only")
        return _search(here, job.runs, kind, observer, judges.search)
    repeats = here.plan.turns() if interleave else [here.plan.cases()]
    order = [case for cases in repeats for case in cases]
    positions = {case.id: number for number, case in enumerate(order, 1)}
    return Sweep(here, job.runs, _selected(job, order), positions, observer, kind)


def _decide(jobs: Sequence[Job], sweeps: list[Sweep], observer: Observer, judges: Judges) -> None:
    """Replace the sweeps of plans with ``decide`` by those that follow from their results."""
    for numbers in [] if any(job.only for job in jobs) else together([job.plan for job in jobs]):
        plans = [sweeps[number].here.plan for number in numbers]
        folders = [jobs[number].runs for number in numbers]
        if judges.decide is None:
            raise PlanError(f"plan {plans[0].name}: to decide, a judge is needed: give one")
        deciding = Deciding(numbers, plans, folders, judges.decide, observer.doing)
        orders = [deciding.order(side) for side in range(len(plans))]
        if not any(orders):
            deciding.conclude()
        for number, order, folder in zip(numbers, orders, folders, strict=True):
            positions = _positions(folder)
            sweeps[number] = replace(
                sweeps[number], order=order, positions=positions, deciding=deciding
            )


def _selected(job: Job, order: list[Case]) -> list[Case]:
    """Return the cases of ``order`` that the job selects."""
    chosen = [case for case in order if case.id.endswith(job.only)]
    if job.only and len(chosen) != 1:
        raise PlanError(
            f"plan {job.plan.name}: {len(chosen) or 'no'} cases end in {job.only!r}: give the name"
            " of one, as mqperf plan shows it"
        )
    return chosen


def _search(
    here: Possible, folder: Path, kind: HostKind, observer: Observer, judge: Judge | None
) -> Sweep:
    """Return a sweep of searches, which continue after the runs in the folder."""
    if judge is None:
        raise PlanError(f"plan {here.plan.name}: a search needs a judge of its runs: give one")
    searching = Searching(here.plan.searches(), judge, observer.doing)
    order = searching.begin(folder)
    return Sweep(here, folder, order, _positions(folder), observer, kind, searching)


def _positions(folder: Path) -> dict[str, int]:
    """Return the positions of the cases that have a whole run in the folder."""
    positions: dict[str, int] = {}
    for run in runs(folder) if folder.exists() else ():
        with suppress(RecordError):  # unreadable runs, which audit reports
            if run.status == "done" and (position := run.facts().position) is not None:
                positions[run.case_id] = position
    return positions


def _check_possible(sweeps: Sequence[Sweep]) -> None:
    """Raise ``SystemFault`` when cases are pending, and none of them can be measured here."""
    todo = [(plan_sweep.here, case) for plan_sweep in sweeps for case in plan_sweep.pending()]
    if todo and all(here.refusal(case) for here, case in todo):
        reasons = [each.reason for plan_sweep in sweeps for each in plan_sweep.here.refused]
        raise SystemFault("; ".join(dict.fromkeys(reasons)))


def _turns(sweeps: Sequence[Sweep], *, interleave: bool) -> list[Turn]:
    """Return the pending cases in turns, in the order in which they are to run."""
    plans = [plan_sweep.here.plan for plan_sweep in sweeps]
    todo = [plan_sweep.pending() for plan_sweep in sweeps]
    ids = [{case.id for case in cases} for cases in todo]
    if not interleave:
        turns = [Turn(n, f"plan {plan.name}", todo[n]) for n, plan in enumerate(plans)]
    else:
        by_repeat = [plan.turns() for plan in plans]
        turns = [
            Turn(
                number,
                f"plan {plans[number].name}, repeat {repeat + 1} of {plans[number].repeats}",
                [case for case in by_repeat[number][repeat] if case.id in ids[number]],
            )
            for number, repeat in in_turns(plans)
        ]
    return [*_once_per_decision(turns, sweeps)]


def _once_per_decision(turns: Sequence[Turn], sweeps: Sequence[Sweep]) -> Iterator[Turn]:
    """Yield turns with cases; of two plans that decide together, only that of the first."""
    yielded: list[Deciding] = []
    for turn in turns:
        deciding = sweeps[turn.number].deciding
        if turn.cases and not any(deciding is other for other in yielded):
            yield turn
            yielded += [] if deciding is None else [deciding]


def _announce(turns: Sequence[Turn], sweeps: Sequence[Sweep], observer: Observer) -> None:
    todo = [case for turn in turns for case in _longest(sweeps[turn.number], turn)]
    starts = sum(_starts(sweeps[turn.number], turn) for turn in turns)
    if searches := [
        search
        for plan_sweep in sweeps
        if plan_sweep.searching
        for search in plan_sweep.searching.searches
    ]:
        noun = "search" if len(searches) == 1 else "searches"
        observer.doing(f"{len(searches)} {noun}: the runs below are as many as that takes at most")
    if any(sweeps[turn.number].deciding for turn in turns):
        observer.doing(
            "what is decided is not run again: the runs below are as many as it may take"
        )
    done = sum(_done(plan_sweep) for plan_sweep in sweeps)
    observer.planned(todo, done, starts)


def _longest(plan_sweep: Sweep, turn: Turn) -> list[Case]:
    """Return the cases of a turn; of searches and decisions, the maximum number of cases."""
    if plan_sweep.deciding is not None:
        return [*plan_sweep.deciding.longest()]
    if plan_sweep.searching is None:
        return [*turn.cases]
    return [
        case
        for search in plan_sweep.searching.searches
        for case in plan_sweep.searching.left(search)
    ]


def _done(plan_sweep: Sweep) -> int:
    """Return the number of cases of a plan that have a whole run."""
    if plan_sweep.searching is not None or plan_sweep.deciding is not None:
        return len(plan_sweep.positions)
    return len(plan_sweep.order) - len(plan_sweep.pending())


def _starts(plan_sweep: Sweep, turn: Turn) -> int:
    """Return the number of starts of systems in a turn."""
    return len(starts(case for case in turn.cases if not plan_sweep.here.refusal(case)))


def _outcome(ended: Sequence[Ended], kept: int) -> Outcome:
    failed = tuple((run, failure) for _, run, failure in ended if failure is not None)
    return Outcome(len(ended) - len(failed), failed, kept)
