"""A prediction in words: the sustained rate, the role that is full first, and the basis."""

from collections.abc import Iterator
from typing import Any

from mqperf.pages.figures import labels
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf_capacity.study.assumptions import MACHINE_FULL
from mqperf_capacity.study.full_load import full_load
from mqperf_capacity.study.points import CLIENTS, HOST, SERVERS
from mqperf_capacity.study.predictions import ALL, MEASURED, TARGET, Predicted, Row
from mqperf_capacity.study.terms import of_message

ROLES = {
    CLIENTS: "the clients of the load generator",
    SERVERS: "the servers of the load generator",
    "network": "the network",
    HOST: "the machine that they all share",
}


MORE = (
    "It may well be more: a role that is full handles several messages at once, so each costs it"
    " less. Only runs under overload show by how much."
)

INTERVALS = (
    "In brackets: the 90 % interval for one further run, from the spread of the measured runs and"
    " from errors of earlier predictions. It holds as long as a message costs what it did then."
)


def lines(results: list[Predicted]) -> Iterator[str]:
    """The lines of all predictions; the last one says how to read the intervals."""
    for result in results:
        for line in _lines_of(result):
            yield in_unit(line, TEST_CASES[result.known.model.keys["test_case"]].unit, ())
        yield ""
    if all(result.refused for result in results):
        return
    yield INTERVALS


def _lines_of(result: Predicted) -> Iterator[str]:
    keys = result.known.model.keys
    words = f" ({result.known.model.words})" if result.known.model.words else ""
    yield (
        f"{keys['system']}, {keys['topology']}, {labels.kind(keys['queues'])},"
        f" {TEST_CASES[keys['test_case']].title}{words}"
    )
    if result.refused is not None:
        yield f"  No prediction: {result.refused}."
        yield from _assumptions(result)
        return
    yield from _basis(result)
    yield from _sustained(result)
    if result.asked.rate is not None:
        yield from _at_rate(result)
    whole = result.together
    if "million_cost" in whole:
        yield (
            f"  A million messages cost {span(whole, 'million_cost', '.3g')} at"
            f" {result.asked.price:g} for a core hour of a broker."
        )
    if whole["extrapolated"]:
        yield f"  Extrapolated: {whole['extrapolated']}."
    yield from _assumptions(result)


def _basis(result: Predicted) -> Iterator[str]:
    known = result.known
    runs = known.runs
    yield (
        f"  From {len(runs)} of {len(known.model.runs)} runs, in which no role used more than half"
        f" of its CPU: {runs['rate'].min():,.0f} to {runs['rate'].max():,.0f} msg/sec."
    )
    if known.model.doubted:
        yield (
            f"  Doubted: records of these runs contradict their numbers ({known.model.doubted});"
            " see mqperf audit."
        )
    full = (runs["machine_share"] >= MACHINE_FULL).sum()
    if full:
        yield (
            f"  In {full} of them other processes used up the machine's CPU: the sustained rate is"
            " for a machine without them, but latency includes their effect."
        )


def filled(result: Predicted) -> str:
    """The role that is full first: ``node Broker has used up 0.5 cores``."""
    return used_up(first_of(_roles(result)))


def used_up(row: Row) -> str:
    """The statement that the role of a row has used up its cores."""
    has = "have" if row["role"] in {CLIENTS, SERVERS} else "has"
    cores = row["capacity_cores"]
    return f"{name_of(row['role'])} {has} used up {cores:g} {'core' if cores == 1 else 'cores'}"


def _roles(result: Predicted) -> list[Row]:
    return [row for row in result.rows if row["role"] != ALL]


def first_of(rows: list[Row]) -> Row:
    """The row of the role that is full at the lowest rate."""
    return min(rows, key=lambda row: float(row["full_msg_s"]))


def _sustained(result: Predicted) -> Iterator[str]:
    yield f"  It sustains {_limit(result.together)}; then {filled(result)}."
    if not is_measured(result):
        yield f"  {MORE}"
    yield f"  {_costs(result)}."
    roles = _roles(result)
    nodes = [row for row in roles if row["role"] not in ROLES]
    if nodes and first_of(roles)["role"] in ROLES:
        node = first_of(nodes)
        yield (
            f"  With enough CPU for the load generator, {name_of(node['role'])} alone would sustain"
            f" {_limit(node)}."
        )


def _costs(result: Predicted) -> str:
    """The cost of a message to the role that is full first: at low and, if known, at full load."""
    known, payload = result.known, result.together["asked_payload_bytes"]
    role, message = first_of(_roles(result))["role"], of_message(payload)
    low, _ = known.cpu[role].at(message)
    text = f"A message costs {name_of(role)} {1e6 * low:.3g} µs of CPU at low load"
    if is_measured(result):
        full, _ = full_load(known.model, payload).costs[role].at(message)
        text += f", and {1e6 * full:.3g} µs at full load"
    return text


def is_measured(result: Predicted) -> bool:
    """Whether the cost of a message at full load is known for the role that is full first."""
    return bool(result.together["full_is"] == MEASURED)


def _limit(row: Row) -> str:
    """``19,220 [17,713 to 21,056] msg/sec``; only the lower end where just a bound is known."""
    if row["full_is"] == MEASURED:
        return f"{span(row, 'full_msg_s', ',.0f')} msg/sec"
    return f"at least {row['full_msg_s_low']:,.0f} msg/sec"


def _at_rate(result: Predicted) -> Iterator[str]:
    whole, rate = result.together, result.asked.rate
    yield f"  At {rate:,.0f} msg/sec:"
    yield from (f"    {at_rate(row)}" for row in _roles(result))
    yield f"    latency: {latency(whole)}"


def at_rate(row: Row) -> str:
    """The CPU that a role uses at the requested rate, and how much it needs for that."""
    share, cores = row["used_share"], row["capacity_cores"]
    line = f"{name_of(row['role'])}: {span(row, 'used_cores', '.3g')} cores, {100 * share:.0f} % of"
    line += f" {cores:g}"
    if share > 1:
        line += ": more than it has"
        line += "" if row["full_is"] == MEASURED else ", unless it handles several at once"
    if row["role"] in ROLES:
        return line
    return f"{line}; {row['needed_cores']:.2g} to be at most {100 * TARGET:.0f} % busy"


def latency(row: Row) -> str:
    """Percentiles of latency at the requested rate."""
    if "p50_s" not in row:
        return "not predicted: something is nearly full at this rate, or there are too few runs"
    p99 = f", p99 {span(row, 'p99_s', '.1f', 1e3)} ms" if "p99_s" in row else ""
    return f"median {span(row, 'p50_s', '.1f', 1e3)} ms{p99}"


def _assumptions(result: Predicted) -> Iterator[str]:
    """Limits below the rate that CPU allows, without the reason of a refusal."""
    refusal = result.refused or ""
    for row in result.broken:
        if row["because"] not in refusal:
            limit = f"{row['limit_msg_s']:,.0f} msg/sec"
            yield f"  Not above {limit}: {row['assumption']}; {row['because']}."


def name_of(role: str) -> str:
    """The name of a role in a sentence."""
    return ROLES.get(role, f"node {role}")


def span(row: dict[str, Any], name: str, form: str, scale: float = 1.0) -> str:
    """A value with its interval."""
    value, low, high = (row[f"{name}{end}"] * scale for end in ("", "_low", "_high"))
    return f"{value:{form}} [{low:{form}} to {high:{form}}]"
