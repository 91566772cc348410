"""Check the effects of the plan's actions in the samples of the psutil probe, one per second.

A node that was killed or stopped restarts with new counters; one that was frozen keeps its counters
and uses no CPU; a link that was cut carries no traffic to the devices which it alone feeds.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from mqperf.plan import ActionPlan
from mqperf.record import Whole, read_events
from mqperf.record.logs.psutil_log import Sample

ENDED, FROZEN, CUT = "ended", "frozen", "cut"
EFFECTS = {"kill": ENDED, "stop": ENDED, "freeze": FROZEN, "disconnect": CUT, "black-hole": CUT}
"""Action -> its effect on the process of its node, or on the link; others have no known effect."""

FOUND_S = 3.0
"""Longest delay until a restarted node is sampled: once to find it, and twice to identify it."""

EDGE_S = 0.1
"""Longest delay until a freeze or cut, or its end, takes effect."""

STILL_CORES = 0.05
"""Most cores of a frozen process: it uses none, but the kernel counts in ticks of 10 ms."""

CUT_S = 2.0
"""Shortest cut that can be distinguished from a link with little traffic."""

TAIL_S = 0.5
"""Time for which data in flight still arrives."""

Span = tuple[float, float]

Reading = tuple[Span, bool]
"""The interval between two samples, and whether a device received nothing in it."""


def disagreements(run: Whole, logs: Sequence[Sequence[Sample]]) -> Iterator[str]:
    """Yield actions that the samples contradict; ``logs`` has the samples of each host."""
    if not run.case.actions:
        return
    spans = dict(_observed(run))
    for number, span in spans.items():
        action = run.case.actions[number - 1]
        others = [other for other_number, other in spans.items() if other_number != number]
        for problem in _problems(action, span, others, logs, run.window[0]):
            yield f"{action.do} of {action.target} from {action.at_s:g} s on: {problem}"


def _observed(run: Whole) -> Iterator[tuple[int, Span]]:
    """Number, begin and end in epoch seconds of each action whose begin and end were observed."""
    details = [(event.what, event.detail) for event in read_events(run.run.path)]
    observed = {(what, detail.get("number")): detail.get("observed") for what, detail in details}
    for number in range(1, len(run.case.actions) + 1):
        began, ended = (observed.get((f"action-{what}", number)) for what in ("began", "ended"))
        if isinstance(began, float) and isinstance(ended, float):
            yield number, (began, ended)


def _problems(
    action: ActionPlan,
    span: Span,
    others: Sequence[Span],
    logs: Sequence[Sequence[Sample]],
    window: float,
) -> Iterator[str]:
    effect = EFFECTS.get(action.do)
    if effect == CUT and action.link and span[1] - span[0] >= CUT_S:
        yield from _on_link(span, others, logs, window)
    for samples in logs if effect in {ENDED, FROZEN} else ():
        if samples and action.target in samples[0].processes:
            yield from _on_node(action.target, span, samples, ended=effect == ENDED)


def _on_node(node: str, span: Span, samples: Sequence[Sample], *, ended: bool) -> Iterator[str]:
    """Yield if the process went on instead of restarting, or ended or worked while frozen."""
    began, until = span
    during = [sample for sample in samples if began <= sample.epoch <= until + FOUND_S]
    alive = all(sample.processes[node] is not None for sample in during)
    if ended and alive and samples[-1].epoch > until + FOUND_S:
        yield "its process went on, with the same counters"
    elif not ended and not alive:
        yield "its process ended"
    elif not ended and (cores := _used_cores(node, span, during)) > STILL_CORES:
        yield f"its process used {cores:.2f} cores meanwhile"


def _used_cores(node: str, span: Span, samples: Sequence[Sample]) -> float:
    """Mean cores used between the first and the last reading in this span; 0 for fewer than two."""
    readings = [sample.processes[node] for sample in samples]
    instants = [
        (sample.epoch + reading[0] - sample.monotonic, reading[1] + reading[2])
        for sample, reading in zip(samples, readings, strict=True)
        if reading is not None
    ]
    inside = [sample for sample in instants if span[0] + EDGE_S <= sample[0] <= span[1] - EDGE_S]
    if len(inside) < 2:
        return 0.0
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def _on_link(
    span: Span, others: Sequence[Span], logs: Sequence[Sequence[Sample]], window: float
) -> Iterator[str]:
    """Yield a mostly busy device that was silent for long, but not while the link was cut.

    If a device was silent during the cut, that was its effect; if none ever was, devices carry
    other traffic as well.  Silence during another action may be the effect of that action.
    """
    first, last = span[0] + TAIL_S, span[1] - EDGE_S
    devices = [device for samples in logs for device in _busy_devices(samples)]
    during = [
        [quiet for at, quiet in series if first <= at[0] and at[1] <= last] for _, series in devices
    ]
    if not any(during) or any(flags and all(flags) for flags in during):
        return
    for device, readings in devices:
        for begin, end in _silences(readings):
            if not any(begin < other[1] and other[0] < end for other in others):
                yield (
                    f"{device} received nothing from {begin - window:.0f} to {end - window:.0f} s"
                    " instead, and something meanwhile"
                )
                return


def _busy_devices(samples: Sequence[Sample]) -> Iterator[tuple[str, list[Reading]]]:
    """Yield devices that receive data in most intervals between samples, with their readings."""
    counters = [
        (sample.epoch, sample.network.bytes) for sample in samples if sample.network is not None
    ]
    for device in counters[0][1] if counters else ():
        received = [(at, by_device.get(device, (0, 0))[1]) for at, by_device in counters]
        readings = [
            ((sample[0], next_[0]), sample[1] == next_[1]) for sample, next_ in pairwise(received)
        ]
        if 2 * sum(quiet for _, quiet in readings) < len(received):
            yield device, readings


def _silences(readings: Sequence[Reading]) -> Iterator[Span]:
    """Yield the spans, at least as long as the shortest cut, in which a device received nothing."""
    for quiet, stretch in groupby(readings, lambda reading: reading[1]):
        times = [at for at, _ in stretch]
        if quiet and times[-1][1] - times[0][0] >= CUT_S - EDGE_S:
            yield times[0][0], times[-1][1]
