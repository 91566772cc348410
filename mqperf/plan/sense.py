"""Checks for valid plans that request something impossible, made before anything runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeGuard

from mqperf.base.problems import Where
from mqperf.plan.experiment import Plan
from mqperf.plan.fail_when import CONDITIONS
from mqperf.plan.load_plan import LoadPlan
from mqperf.plan.pace import COUNT, LATE, RAMP, RATE, STEPS, THREAD_RATE

Nonsense = tuple[Where, str]
"""The path in the plan, and the message."""


def nonsense(plan: Plan) -> Iterator[Nonsense]:
    """Yield every impossible request of the plan."""
    yield from _of_rates(("load",), plan.load.parameters, plan.load)
    for surroundings in plan.surroundings:
        for index, load in enumerate(surroundings.background):
            parameters = {name: (value,) for name, value in load.parameters.items()}
            where = (*plan.place_of("background", surroundings), index)
            yield from _of_rates(where, parameters, plan.load)
    yield from _of_counts(plan.load)
    if plan.search is not None and (problem := _too_slow(plan.search.from_msg_s, plan.load)):
        yield ("search", "from_msg_s"), problem
    yield from _of_conditions(plan)
    yield from _of_links(plan)


def _of_rates(
    where: Where, parameters: Mapping[str, Sequence[Any]], load: LoadPlan
) -> Iterator[Nonsense]:
    """Rates at which nothing is sent, too late consumers, and rate steps that are too short."""
    for name, threads in ((RATE, 1), (RAMP, 1), (THREAD_RATE, _threads(load))):
        for index, rate in _numbers(parameters, name):
            if problem := _too_slow(rate * threads, load):
                yield (*where, name, index), problem
    for index, late in _numbers(parameters, LATE):
        if late >= (shortest := _load_s(load, min)):
            text = f"consumers that start after {late} s miss a load of {shortest} s: lower it"
            yield (*where, LATE, index), text
    lengths = {sum(spans) for spans in product(load.duration_s, load.warmup_s, load.cooldown_s)}
    for index, steps in _numbers(parameters, STEPS):
        for load_s in sorted(lengths):
            if not _each_has_a_second(int(steps), load_s):
                fitting = f"give {load_s}, or at most {load_s // 2}"
                text = f"{steps} steps in {load_s} s do not have a whole second each: {fitting}"
                yield (*where, STEPS, index), text


def _each_has_a_second(steps: int, load_s: int) -> bool:
    """Whether each step contains a whole second of the load, as its evaluation needs."""
    return all(
        (step + 1) * load_s // steps > -(-step * load_s // steps)  # floor of end > ceiling of start
        for step in range(steps)
    )


def _too_slow(rate: float, load: LoadPlan) -> str | None:
    longest = _load_s(load, max)
    few = rate * longest < 1
    return f"at {rate:g} msg/s no message is sent in {longest} s: raise it" if few else None


def _of_counts(load: LoadPlan) -> Iterator[Nonsense]:
    """Counts of messages that cannot be sent within the load at the highest rate of the plan."""
    parameters, longest = load.parameters, _load_s(load, max)
    rates = [rate for name in (RATE, RAMP) for _, rate in _numbers(parameters, name)]
    rates += [rate * _threads(load) for _, rate in _numbers(parameters, THREAD_RATE)]
    for index, count in _numbers(parameters, COUNT):
        if rates and count > max(rates) * longest:
            text = f"{count:,} messages are not sent in {longest} s at {max(rates):g} msg/s"
            yield ("load", COUNT, index), f"{text}: lower it, or raise the rate or load.duration_s"


def _of_conditions(plan: Plan) -> Iterator[Nonsense]:
    """A fail condition without a limit, or with a duration longer than every window."""
    if (condition := plan.fail_when) is None:
        return
    if all(getattr(condition, name) is None for name in CONDITIONS):
        keys = sorted(condition.model_fields_set & CONDITIONS)
        yield ("fail_when", *keys[:1]), "it limits nothing: give a number"
    if condition.for_s > (longest := max(plan.load.duration_s)):
        text = f"{condition.for_s} s do not pass in a window of {longest} s: lower it"
        yield ("fail_when", "for_s"), f"{text}, or lengthen load.duration_s"


def _of_links(plan: Plan) -> Iterator[Nonsense]:
    """Jitter that is larger than the delay."""
    for surroundings in plan.surroundings:
        where = plan.place_of("link", surroundings)
        for link in surroundings.links:
            if link is not None and link.jitter_s > link.delay_s:
                yield (*where, "jitter_s"), _too_much_jitter(link.delay_s, link.jitter_s)
        for index, action in enumerate(surroundings.actions):
            least = min((link.delay_s for link in surroundings.links if link), default=0.0)
            impaired: dict[str, object] = {"delay_s": least, **action.parameters}
            delay, jitter = impaired["delay_s"], impaired.get("jitter_s")
            if _is_number(delay) and _is_number(jitter) and jitter > delay:
                where = (*plan.place_of("actions", surroundings), index, "jitter_s")
                yield where, _too_much_jitter(delay, jitter)


def _too_much_jitter(delay: float, jitter: float) -> str:
    return (
        f"a delay of {delay:g} s cannot vary by {jitter:g} s: give delay_s, too, and at most"
        " that much jitter_s"
    )


def _numbers(parameters: Mapping[str, Sequence[Any]], name: str) -> Iterator[tuple[int, Any]]:
    """Yield index and value of a parameter's numbers; other types are reported elsewhere."""
    yield from (
        (index, value) for index, value in enumerate(parameters.get(name, ())) if _is_number(value)
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _threads(load: LoadPlan) -> int:
    return max(load.green_threads) * max(load.processes) * max(load.hosts)


def _load_s(load: LoadPlan, extreme: Callable[[Sequence[int]], int]) -> int:
    """Return the seconds of the longest (``max``) or shortest (``min``) load."""
    return sum(extreme(seconds) for seconds in (load.duration_s, load.warmup_s, load.cooldown_s))
