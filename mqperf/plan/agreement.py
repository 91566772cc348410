"""Checks between keys of a plan, beyond the validation of each key by itself."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mqperf.plan.background import BackgroundLoad
from mqperf.plan.pace import COUNT, OFFERED, RAMP, RATE, THREAD_RATE
from mqperf.plan.values import Misplaced

if TYPE_CHECKING:
    from mqperf.plan.experiment import Plan
    from mqperf.plan.load_plan import LoadPlan

MAX_CASES = 10_000
"""Most cases of a plan."""

MAX_THREADS = 100_000
"""Most green threads of a case, over all its processes."""


def agree(plan: "Plan") -> None:
    """Raise ``Misplaced`` for the first keys that contradict each other."""
    for check in AGREEMENTS:
        check(plan)


def too_many_threads(load: "LoadPlan", background: Sequence[BackgroundLoad]) -> str | None:
    """Return the message for a case with more than ``MAX_THREADS``, over all hosts, or None."""
    hosts = max(load.hosts)
    measured = max(load.green_threads) * max(load.processes) * hosts
    in_background = sum(other.threads for other in background) * hosts
    if measured + in_background <= MAX_THREADS:
        return None
    over = f" over {hosts} client hosts" if hosts > 1 else ""
    return (
        f"a case has {measured + in_background:,} green threads{over},"
        f" {in_background:,} of them in the background,"
        f" at most {MAX_THREADS:,} are allowed: lower load or background"
    )


def _check_actions(plan: "Plan") -> None:
    """Actions must end within the window, and an action on the link needs a link."""
    for surroundings in plan.surroundings:
        for index, action in enumerate(surroundings.actions):
            where = (*plan.place_of("actions", surroundings), index)
            if action.link and None in surroundings.links:
                raise Misplaced(
                    where,
                    f"{action.do} is done to the link, and the plan has none: say link:, and"
                    " between which roles",
                )
            if action.end_s > (window := min(plan.load.duration_s)):
                raise Misplaced(
                    (*where, "for_s"),
                    f"{action.do} of {action.target} ends {action.end_s:g} s after the start of"
                    f" a window of {window} s: lengthen load.duration_s, so that the"
                    " recovery is measured, too",
                )


def _check_early_end(plan: "Plan") -> None:
    """A run that may end early can have neither background loads nor actions."""
    ending = {("fail_when",): plan.fail_when, ("load", COUNT): plan.load.parameters.get(COUNT)}
    key = next((where for where, value in ending.items() if value is not None), None)
    if key and any(each.background or each.actions for each in plan.surroundings):
        raise Misplaced(
            key,
            "a run with a background load or actions cannot end early: leave out"
            f" {'.'.join(key)}, or these",
        )


def _check_message_count(plan: "Plan") -> None:
    """Only the measured load may have a message count, of at least one message per thread."""
    for surroundings in plan.surroundings:
        for index, load in enumerate(surroundings.background):
            if COUNT in load.parameters:
                raise Misplaced(
                    (*plan.place_of("background", surroundings), index, COUNT),
                    f"a background load lasts as long as the run: leave out its {COUNT}",
                )
    measured = plan.load
    counts = measured.parameters.get(COUNT, ())
    least = min((count for count in counts if isinstance(count, int)), default=0)
    threads = max(measured.green_threads) * max(measured.processes) * max(measured.hosts)
    if 0 < least < threads:
        raise Misplaced(
            ("load", COUNT),
            f"{least} leaves some of {threads} threads without a message: raise it, or lower"
            " green_threads",
        )


def _check_throughput_share(plan: "Plan") -> None:
    """``fail_when.throughput_share`` needs a constant offered rate to be a share of."""
    if plan.fail_when is None or not plan.fail_when.throughput_share:
        return
    parameters = plan.load.parameters
    paced = RATE in parameters or THREAD_RATE in parameters or plan.search is not None
    if not paced or RAMP in parameters:
        raise Misplaced(
            ("fail_when", "throughput_share"),
            f"it is a share of an offered rate that stays: say load.{RATE} and no {RAMP}, or"
            " fail_when.throughput_msg_s",
        )


def _check_search(plan: "Plan") -> None:
    """A search sets the rate and the order of its runs itself."""
    if plan.search is None:
        return
    for name in OFFERED:
        if name in plan.load.parameters:
            text = f"a search sets {RATE} itself: leave out load.{name}, or search"
            raise Misplaced(("load", name), text)
    if plan.control_runs:
        text = "a search has no control runs: leave out control_runs, or search"
        raise Misplaced(("control_runs",), text)
    if plan.order != "listed":
        text = "a search orders its runs itself: leave out order, or search"
        raise Misplaced(("order",), text)


def _check_threads(plan: "Plan") -> None:
    """A case may have at most ``MAX_THREADS`` threads."""
    for surroundings in plan.surroundings:
        if problem := too_many_threads(plan.load, surroundings.background):
            raise Misplaced(("load", "green_threads"), problem)


def _check_number_of_cases(plan: "Plan") -> None:
    """A plan may have at most ``MAX_CASES`` cases."""
    number = plan.number_of_cases
    if number > MAX_CASES:
        raise Misplaced(
            ("load",),
            f"{number:,} cases, a plan may have at most {MAX_CASES:,}:"
            " shorten its lists or repeats, or split it into several plans",
        )


def _check_decide(plan: "Plan") -> None:
    """``decide`` needs points to compare, a throughput that no rate fixes, and enough time."""
    if plan.decide is None:
        return
    if plan.search is not None:
        text = "a search orders its runs itself: leave out decide, or search"
        raise Misplaced(("decide",), text)
    for name in OFFERED:
        if name in plan.load.parameters and RAMP not in plan.load.parameters:
            text = (
                f"throughput is compared, which a rate fixes: leave out load.{name}, or have it"
                f" grow to load.{RAMP}; or leave out decide"
            )
            raise Misplaced(("load", name), text)
    for name, default in {"control_runs": False, "order": "listed"}.items():
        if getattr(plan, name) != default:
            text = f"what is to be decided orders its runs itself: leave out {name}, or decide"
            raise Misplaced((name,), text)
    if not (plan.decide.plans or plan.comparisons()):
        raise Misplaced(
            ("decide",),
            "there is nothing to compare: name several systems, kinds of queue or topologies,"
            " or several words of an option",
        )
    least_s = sum(case.load_s for case in plan.cases())
    if least_s > plan.decide.within_s:
        raise Misplaced(
            ("decide", "within"),
            f"{plan.first_repeats} repeats of all points take {least_s / 60:.1f} min already:"
            " raise it, or shorten load.duration_s",
        )


AGREEMENTS: Sequence[Callable[["Plan"], None]] = (
    _check_actions,
    _check_early_end,
    _check_message_count,
    _check_throughput_share,
    _check_search,
    _check_threads,
    _check_number_of_cases,
    _check_decide,
)
"""Each raises ``Misplaced`` for keys that contradict each other; the first to raise ends it."""
