"""Test cases at once in words: what all of them use, and how long each takes."""

from collections.abc import Iterator

from mqperf.pages.figures import labels
from mqperf.pages.report.words import joined
from mqperf.plan.test_cases import TEST_CASES
from mqperf_capacity.pages.words import INTERVALS, name_of, span
from mqperf_capacity.study.mixes import Mix
from mqperf_capacity.study.points import HOST
from mqperf_capacity.study.predictions import ALL, TARGET, Row


def lines(results: list[Mix]) -> Iterator[str]:
    """All of them, one after the other; the last line says how to read the intervals."""
    for mix in results:
        yield from _of(mix)
        yield ""
    if any(mix.refused is None for mix in results):
        yield INTERVALS


def _of(mix: Mix) -> Iterator[str]:
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
    for row in mix.rows:
        if row["role"] != ALL:
            yield f"    {_role(row)}"
    for row in mix.rows:
        if "test_case" in row:
            yield f"    {_latency(row)}"
    yield f"  {_growth(mix)}"
    if beyond := "; ".join(mix.beyond()):
        yield f"  Extrapolated: {beyond}."


def _role(row: Row) -> str:
    share, cores = 100 * row["used_share"], row["capacity_cores"]
    line = f"{name_of(row['role'])}: {span(row, 'used_cores', '.3g')} cores, {share:.0f} % of"
    line += f" {cores:g}" + (": more than there is" if share > 100 else "")
    if row["role"] == HOST:
        return line
    return f"{line}; {row['needed_cores']:.2g} to be at most {100 * TARGET:.0f} % busy"


def _latency(row: Row) -> str:
    title = TEST_CASES[row["test_case"]].title
    if "p50_s" not in row:
        return f"latency of {title}: not predicted, as a node is nearly full, or no run tells"
    p99 = f", p99 {span(row, 'p99_s', '.1f', 1e3)} ms" if "p99_s" in row else ""
    return f"latency of {title}: median {span(row, 'p50_s', '.1f', 1e3)} ms{p99}"


def _growth(mix: Mix) -> str:
    """How often as much of all of it the layout takes, at least, and who is full then."""
    roles = [row for row in mix.rows if row["role"] != ALL]
    first = min(roles, key=lambda row: float(row["full_msg_s"]))
    times = first["full_msg_s_low"] / first["asked_rate_msg_s"]
    return (
        f"At least {times:.1f} times as much of all of it is sustained; then"
        f" {name_of(first['role'])} has used up {first['capacity_cores']:g} cores."
    )
