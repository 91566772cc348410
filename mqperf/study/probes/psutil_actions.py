"""What actions of the plan did, as the psutil probe saw it once a second.

A node that was ended has another life afterwards, with new counters; one that was frozen has the
same, and used no CPU; a link that was cut carried nothing to the devices which it alone fills.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from mqperf.plan import ActionPlan
from mqperf.record import Whole, read_events
from mqperf.record.logs.psutil_log import Sample

ENDED, FROZEN, CUT = "ended", "frozen", "cut"
EFFECTS = {"kill": ENDED, "stop": ENDED, "freeze": FROZEN, "disconnect": CUT, "black-hole": CUT}
"""What actions do to the process of their node, or to the link; of others nothing is known."""

FOUND_S = 3.0
"""A node that was started again is sampled after so long: once to find it, and twice to know it."""

EDGE_S = 0.1
"""What is stopped, or let go on, is so within this time."""

STILL_CORES = 0.05
"""A process that is stopped uses none; the kernel counts in ticks of a hundredth of a second."""

CUT_S = 2.0
"""A link that is cut for less is not told from one with little to carry."""

TAIL_S = 0.5
"""What was on its way still arrives for so long."""

Span = tuple[float, float]

Reading = tuple[Span, bool]
"""The time between two samples, and whether a device received nothing then."""


def disagreements(run: Whole, logs: Sequence[Sequence[Sample]]) -> Iterator[str]:
    """Actions that the samples contradict; ``logs`` are those of all hosts."""
    if not run.case.actions:
        return
    spans = dict(_observed(run))
    for number, span in spans.items():
        action = run.case.actions[number - 1]
        others = [other for other_number, other in spans.items() if other_number != number]
        for problem in _contradictions(action, span, others, logs, run.window[0]):
            yield f"{action.do} of {action.target} from {action.at_s:g} s on: {problem}"


def _observed(run: Whole) -> Iterator[tuple[int, Span]]:
    """The actions that were seen to begin and to end, by their numbers, in epoch seconds."""
    details = [(event.what, event.detail) for event in read_events(run.run.path)]
    observed = {(what, detail.get("number")): detail.get("observed") for what, detail in details}
    for number in range(1, len(run.case.actions) + 1):
        began, ended = (observed.get((f"action-{what}", number)) for what in ("began", "ended"))
        if isinstance(began, float) and isinstance(ended, float):
            yield number, (began, ended)


def _contradictions(
    action: ActionPlan,
    span: Span,
    others: Sequence[Span],
    logs: Sequence[Sequence[Sample]],
    window: float,
) -> Iterator[str]:
    effect = EFFECTS.get(action.do)
    if effect == CUT and action.link and span[1] - span[0] >= CUT_S:
        yield from _uncut(span, others, logs, window)
    for samples in logs if effect in {ENDED, FROZEN} else ():
        if samples and action.target in samples[0].processes:
            yield from _another(action.target, span, samples, ended=effect == ENDED)


def _another(node: str, span: Span, samples: Sequence[Sample], *, ended: bool) -> Iterator[str]:
    """A node that had one life where it should have two, or the reverse."""
    began, until = span
    during = [sample for sample in samples if began <= sample.epoch <= until + FOUND_S]
    alive = all(sample.processes[node] is not None for sample in during)
    if ended and alive and samples[-1].epoch > until + FOUND_S:
        yield "its process went on, with the same counters"
    elif not ended and not alive:
        yield "its process ended"
    elif not ended and (cores := _used(node, span, during)) > STILL_CORES:
        yield f"its process used {cores:.2f} cores meanwhile"


def _used(node: str, span: Span, samples: Sequence[Sample]) -> float:
    """Cores between the first and the last reading in this time; 0 of less than two."""
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


def _uncut(
    span: Span, others: Sequence[Span], logs: Sequence[Sequence[Sample]], window: float
) -> Iterator[str]:
    """Devices that are mostly busy, and were silent for long, but at another time.

    Where one was silent while the link was cut, that was it; where none ever was, devices carry
    more than the link.  Silence while something else was done may come of that.
    """
    first, last = span[0] + TAIL_S, span[1] - EDGE_S
    devices = [of_device for samples in logs for of_device in _devices(samples)]
    meanwhile = [
        [quiet for at, quiet in device if first <= at[0] and at[1] <= last] for _, device in devices
    ]
    if not any(meanwhile) or any(device and all(device) for device in meanwhile):
        return
    for device, readings in devices:
        for begin, end in _silences(readings):
            if not any(begin < other[1] and other[0] < end for other in others):
                yield (
                    f"{device} received nothing from {begin - window:.0f} to {end - window:.0f} s"
                    " instead, and something meanwhile"
                )
                return


def _devices(samples: Sequence[Sample]) -> Iterator[tuple[str, list[Reading]]]:
    """Those that mostly receive something, with what every two samples tell."""
    counters = [
        (sample.epoch, sample.network.bytes) for sample in samples if sample.network is not None
    ]
    for device in counters[0][1] if counters else ():
        counts = [(at, bytes_of.get(device, (0, 0))[1]) for at, bytes_of in counters]
        readings = [
            ((sample[0], next_[0]), sample[1] == next_[1]) for sample, next_ in pairwise(counts)
        ]
        if 2 * sum(quiet for _, quiet in readings) < len(counts):
            yield device, readings


def _silences(readings: Sequence[Reading]) -> Iterator[Span]:
    """When a device received nothing for as long as a link has to be cut, or longer."""
    for quiet, stretch in groupby(readings, lambda reading: reading[1]):
        times = [at for at, _ in stretch]
        if quiet and times[-1][1] - times[0][0] >= CUT_S - EDGE_S:
            yield times[0][0], times[-1][1]
