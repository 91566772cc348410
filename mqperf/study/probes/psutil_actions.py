"""What actions of the plan did, as the psutil probe saw it once a second.

A node that was ended has another life afterwards, with new counters; one that was frozen has the
same, and used no CPU; a link that was cut carried nothing to the devices which it alone fills.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mqperf.plan import ActionPlan
from mqperf.record import Whole, read_events
from mqperf.record.logs.psutil_log import Sample

ENDED, FROZEN, CUT = "ended", "frozen", "cut"
EFFECTS = {"kill": ENDED, "stop": ENDED, "freeze": FROZEN, "disconnect": CUT, "black-hole": CUT}
"""What actions do to the process of their node, or to the link; of others nothing is known."""

FOUND_S = 3.0
"""A node that was started again is sampled after so long."""

EDGE_S = 0.1
"""What is stopped, or let go on, is so within this time."""

STILL_CORES = 0.05
"""A process that is stopped uses none; the kernel counts in ticks of a hundredth of a second."""

CUT_S = 2.0
"""A link that is cut for less is not told from one with little to carry."""

GRID_S = 1.5
"""By so much a silence may begin later, or end earlier, as samples are a second apart."""

Span = tuple[float, float]


def disagreements(run: Whole, logs: Sequence[Sequence[Sample]]) -> Iterator[str]:
    """Actions that the samples contradict; ``logs`` are those of all hosts."""
    if not run.case.actions:
        return
    events = {(one.what, one.detail.get("number")): one for one in read_events(run.run.path)}
    for number, action in enumerate(run.case.actions, 1):
        ends = [events.get((what, number)) for what in ("action-began", "action-ended")]
        at = [None if one is None else one.detail.get("observed") for one in ends]
        if isinstance(at[0], float) and isinstance(at[1], float):
            for problem in _contradictions(action, (at[0], at[1]), logs, run.window[0]):
                yield f"{action.do} of {action.target} from {action.at_s:g} s on: {problem}"


def _contradictions(
    action: ActionPlan, span: Span, logs: Sequence[Sequence[Sample]], window: float
) -> Iterator[str]:
    effect = EFFECTS.get(action.do)
    if effect == CUT and action.link and span[1] - span[0] >= CUT_S:
        yield from _uncut(span, logs, window)
    for samples in logs if effect in {ENDED, FROZEN} else ():
        if samples and action.target in samples[0].processes:
            yield from _another(action.target, span, samples, ended=effect == ENDED)


def _another(node: str, span: Span, samples: Sequence[Sample], *, ended: bool) -> Iterator[str]:
    """A node that had one life where it should have two, or the reverse."""
    began, until = span
    during = [one for one in samples if began <= one.epoch <= until + FOUND_S]
    alive = all(one.processes[node] is not None for one in during)
    if ended and alive and samples[-1].epoch > until + FOUND_S:
        yield "its process went on, with the same counters"
    elif not ended and not alive:
        yield "its process ended"
    elif not ended and (cores := _used(node, span, during)) > STILL_CORES:
        yield f"its process used {cores:.2f} cores meanwhile"


def _used(node: str, span: Span, samples: Sequence[Sample]) -> float:
    """Cores between the first and the last reading in this time; 0 of less than two."""
    readings = [one.processes[node] for one in samples]
    instants = [
        (one.epoch + reading[0] - one.monotonic, reading[1] + reading[2])
        for one, reading in zip(samples, readings, strict=True)
        if reading is not None
    ]
    inside = [one for one in instants if span[0] + EDGE_S <= one[0] <= span[1] - EDGE_S]
    if len(inside) < 2:
        return 0.0
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def _uncut(span: Span, logs: Sequence[Sequence[Sample]], window: float) -> Iterator[str]:
    """Devices that are mostly busy, and were silent for long, but at another time.

    Where one was silent while the link was cut, that was it; where none ever was, devices carry
    more than the link.
    """
    silent = [one for samples in logs for one in _silences(samples)]
    if any(one[0] <= span[0] + GRID_S and one[1] >= span[1] - GRID_S for _, one in silent):
        return
    for device, (begin, end) in silent[:1]:
        yield (
            f"{device} received nothing from {begin - window:.0f} to {end - window:.0f} s instead,"
            " and something meanwhile"
        )


def _silences(samples: Sequence[Sample]) -> Iterator[tuple[str, Span]]:
    """When devices, that mostly receive something, received nothing."""
    known = [(one.epoch, one.network.bytes) for one in samples if one.network is not None]
    for device in known[0][1] if known else ():
        counts = [(at, bytes_of.get(device, (0, 0))[1]) for at, bytes_of in known]
        quiet: list[Span] = []
        seconds = 0
        for (begin, before), (end, after) in pairwise(counts):
            if after == before:
                seconds += 1
                joined = quiet and quiet[-1][1] == begin
                quiet.append((quiet.pop()[0] if joined else begin, end))
        if 2 * seconds < len(counts):
            yield from ((device, one) for one in quiet if one[1] - one[0] >= CUT_S - EDGE_S)
