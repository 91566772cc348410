"""Predictions for several test cases at once in words: CPU of all, and latency of each."""

from collections.abc import Iterator, Sequence

from mqperf.pages.figures import labels
from mqperf.pages.report.words import joined
from mqperf.plan.test_cases import TEST_CASES
from mqperf_capacity.pages.words import INTERVALS, at_rate, first_of, latency, used_up
from mqperf_capacity.study.mixes import Mix


def lines(results: Sequence[Mix]) -> Iterator[str]:
    """The lines of all mixes; the last line says how to read the intervals."""
    for mix in results:
        yield from _lines_of(mix)
        yield ""
    if any(mix.refused is None for mix in results):
        yield INTERVALS


def _lines_of(mix: Mix) -> Iterator[str]:
    words = f" ({mix.words})" if mix.words else ""
    kind = labels.kind(mix.layout["queues"])
    yield f"{mix.layout['system']}, {mix.layout['topology']}, {kind}{words}"
    parts = [
        f"{TEST_CASES[name].title} at {rate:,.4g} {TEST_CASES[name].unit}/sec"
        for name, rate in mix.rates.items()
    ]
    yield f"  {joined(parts)}, all at once:"
    if mix.refused is not None:
        yield f"  No prediction: {mix.refused}."
        return
    yield from (f"    {at_rate(row)}" for row in mix.roles)
    for row in mix.cases:
        yield f"    latency of {TEST_CASES[row['test_case']].title}: {latency(row)}"
    first = first_of(mix.roles)
    times = first["full_msg_s_low"] / first["asked_rate_msg_s"]
    yield f"  At least {times:.1f} times this load is sustained; then {used_up(first)}."
    if beyond := "; ".join(mix.beyond()):
        yield f"  Extrapolated: {beyond}."
