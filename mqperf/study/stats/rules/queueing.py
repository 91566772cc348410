"""Little's law: messages in flight = throughput x time that each is in flight.

J. D. C. Little, A proof for the queuing formula L = lambda W, Operations Research 9 (1961).  A
thread that CALLs has exactly one message in flight, or is between two: threads = throughput x
(round trip + pause + think time).  The pause is the time that the plan has a thread wait after each
message.  The law holds for any broker, any distribution and any order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

import pandas as pd

from mqperf.plan.test_cases import unit_of
from mqperf.study.stats.rules.finding import (
    IN_FLIGHT_PER_THREAD,
    Finding,
    Row,
    beside_threads,
    closed,
    each,
    in_parts,
    offered,
    one_way,
    parameter,
)
from mqperf.study.stats.rules.tester import hosts_used
from mqperf.study.tables import Tables
from mqperf.study.tables.axes import SWEEP

MISSING_SHARE = 0.1
"""Smallest share of threads that counts as missing: one load generator of ten.  Sound rows of the
reports of 2016 stay below half of it."""

LONG_THINK = 3.0
"""Multiple of the think time of the rest of the sweep from which on it is implausible."""

SATURATED = 2.0
"""Multiple of the smallest round trip of the sweep from which on a point is saturated."""

FEWEST_COUNTS = 2
"""Other thread counts that a sweep needs: one alone does not show the usual think time."""

ROUNDING = 0.02
"""Published latencies have one decimal of a millisecond: up to 2 % of the shortest round trips."""

MOSTLY = 0.5
"""Share of the messages in flight in queues of nodes from which on the backlog is in queues."""

LOST_REPLIES = 2
"""Messages by which counts may differ although every load generator reported."""

MOST_TESTERS = 10
"""Largest denominator of a fraction of load generators that did not report."""

TOLERANCE = 0.02
"""Distance within which a fraction of load generators explains the missing share of threads."""


@dataclass(frozen=True, slots=True)
class Call:
    """The figures of one CALL run that Little's law relates."""

    run: str
    test_case: str
    threads: int
    green_threads: int
    throughput: float
    round_trip: float
    pause: float
    balanced: bool

    @property
    def think_s(self) -> float:
        """Time per message that a thread spends between two messages beyond its pause."""
        return self.threads / self.throughput - self.round_trip - self.pause

    @property
    def turn_s(self) -> float:
        """The think time per green thread, as green threads of a process think in turns."""
        return self.think_s / self.green_threads

    def accounted(self, think_s: float) -> float:
        """Threads that these figures explain if each has this think time."""
        return self.throughput * (self.round_trip + self.pause + think_s)


def littles_law(tables: Tables) -> Iterator[Finding]:
    """Threads that throughput and round trip do not explain, and more CALLs than threads.

    The think time depends on the client and not on the load of the broker; it grows only with the
    number of green threads that take turns in its process.  So it is estimated from the *other*
    points of the sweep (the median of their turns), and a point is suspect when its own is several
    times that and makes up a tenth of its threads.  Below saturation, where the round trip is so
    short that clients may spend as much time besides it, and where the host of the clients had no
    core left, so that they wait for it between messages, the counts must disagree, too.
    Points with different values of a parameter, such as the payload, are not compared.
    """
    usable = _usable(closed(tables))
    usable = usable.assign(pause_s=parameter(usable, "pause_s").fillna(0.0))
    yield from _more_than_threads(usable)
    hosts = hosts_used(tables)
    full = {*hosts.loc[hosts["full"] & hosts["tests"], "run"]}
    for _, sweep in usable.groupby([*SWEEP, *beside_threads(usable)], sort=False, dropna=False):
        runs = [_call(row) for row in each(sweep)]
        fastest = min(run.round_trip for run in runs)
        for run in runs:
            turns = _usual_turns(run, runs)
            if len(turns) < FEWEST_COUNTS:
                continue
            saturated = run.round_trip >= SATURATED * fastest and run.run not in full
            if saturated or not run.balanced:
                yield from _missing_threads(run, max(median(turns), 0.0) * run.green_threads)


def _usual_turns(run: Call, runs: Sequence[Call]) -> list[float]:
    """The median turn at each other number of threads; single green threads take no turns."""
    turns: dict[int, list[float]] = {}
    for other in runs:
        if other.threads != run.threads and not other.green_threads == 1 < run.green_threads:
            turns.setdefault(other.threads, []).append(other.turn_s)
    return [median(turns_s) for turns_s in turns.values()]


def backlog(tables: Tables) -> Iterator[Finding]:
    """One-way messages that wait in queues: more are in flight than threads can hand over.

    With an offered rate, a window of confirms, consumers that start late or cycles of a rate,
    threads may have any number in flight, and nothing is judged.  Messages on a link with a delay
    do not wait, and are subtracted.  All deliveries of a message count as one message.
    """
    frame = _usable(one_way(tables))
    open_ended = offered(frame).notna() | parameter(frame, "confirms").gt(0) | in_parts(frame)
    frame = frame[~open_ended]
    link_s = parameter(frame, "delay_s").fillna(0.0)
    rate = frame["throughput_msg_s"] / frame["each_has"]
    under_way = rate * (frame["latency_mean_s"] - link_s)
    waiting = under_way > frame["threads"] * IN_FLIGHT_PER_THREAD
    queued_by_run = _queued_by_run(tables["node_summary"])
    for row in each(frame.assign(under_way=under_way, link_s=link_s)[waiting]):
        queued = queued_by_run.get(row.run, {})
        latency = "latency beyond the delay of the link" if row.link_s else "latency"
        yield Finding(
            row.run,
            f"throughput x {latency} is {row.under_way:.0f} messages under way from {row.threads}"
            f" thread{'' if row.threads == 1 else 's'}: {_where(queued, row.under_way)}",
            _figures(row) | {"under_way": round(row.under_way, 1)} | queued,
        )


def _where(queued: Mapping[str, int], under_way: float) -> str:
    """Where the messages wait, from the counts of the nodes, if there are any."""
    if not queued:
        return "they wait in queues, and the latency is that of the backlog"
    most, growth = queued["waiting_max"], queued["waiting_growth"]
    mostly = most >= MOSTLY * under_way
    place = "they wait in queues" if mostly else "most wait outside the queues that nodes reported"
    return (
        f"{place}, and the latency is that of the backlog; the nodes reported at most {most}"
        f" messages in their queues or on their links, {abs(growth)}"
        f" {'fewer' if growth < 0 else 'more'} at the end of the window than at its start"
    )


def _queued_by_run(nodes: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Run -> counts of waiting messages, summed over nodes; runs without counts are left out."""
    complete = nodes.dropna(subset=["waiting_max", "waiting_growth"])
    summed = complete.groupby("run")[["waiting_max", "waiting_growth"]].sum()
    return {
        str(run): {str(name): int(value) for name, value in sums.items()}
        for run, sums in summed.iterrows()
    }


def _usable(frame: pd.DataFrame) -> pd.DataFrame:
    complete = frame.dropna(subset=["threads", "throughput_msg_s", "latency_mean_s"])
    return complete[complete["throughput_msg_s"] > 0]


def _call(row: Row) -> Call:
    return Call(
        run=row.run,
        test_case=row.test_case,
        threads=int(row.threads),
        green_threads=1 if pd.isna(row.green_threads) else int(row.green_threads),
        throughput=row.throughput_msg_s,
        round_trip=row.latency_mean_s,
        pause=row.pause_s,
        balanced=_is_balanced(row),
    )


def _is_balanced(row: Row) -> bool:
    """Whether the counts show no missing load generator.

    One that dies leaves a message of each of its threads without a reply.  Half of the smallest
    share that counts is enough to show that; a lost reply or two are not.  None is missing where
    all are known to have reported.
    """
    if pd.notna(row.reported) and row.reported == row.expected:
        return True
    if pd.isna(row.received) or pd.isna(row.round_trip):
        return True
    difference = abs(int(row.received) - int(row.round_trip))
    return difference <= max(LOST_REPLIES, MISSING_SHARE / 2 * int(row.threads))


def _more_than_threads(frame: pd.DataFrame) -> Iterator[Finding]:
    cycle_s = frame["latency_mean_s"] + frame["pause_s"]
    under_way = frame["throughput_msg_s"] * cycle_s
    # the first message of each thread to end in the window may have begun before it
    longest_s = frame["latency_max_s"].fillna(frame["latency_mean_s"]) + frame["pause_s"]
    edge = (longest_s / frame["window_s"]).fillna(0.0)
    wrong = under_way > frame["threads"] * (1 + ROUNDING + edge)
    for row in each(frame.assign(under_way=under_way)[wrong]):
        paused = f"(round trip + {row.pause_s * 1e3:g} ms pause)" if row.pause_s else "round trip"
        yield Finding(
            row.run,
            f"throughput x {paused} is {row.under_way:.0f} messages under way, but each of"
            f" {row.threads} threads waits for only one",
            _figures(row),
        )


def _missing_threads(run: Call, typical_s: float) -> Iterator[Finding]:
    accounted = run.accounted(typical_s)
    share = 1 - accounted / run.threads
    if share < MISSING_SHARE or run.think_s < LONG_THINK * typical_s:
        return
    evidence: dict[str, float] = {
        "threads": run.threads,
        "throughput_msg_s": run.throughput,
        "latency_mean_s": run.round_trip,
        "think_s": round(run.think_s, 6),
        "think_of_the_sweep_s": round(typical_s, 6),
        "threads_accounted_for": round(accounted, 1),
    }
    paused = f" + {run.pause * 1e3:g} ms pause" if run.pause else ""
    text = (
        f"throughput x (round trip{paused} + {typical_s * 1e3:.1f} ms between messages, as"
        f" elsewhere in the sweep) accounts for {accounted:.0f} of {run.threads} threads"
    )
    if not run.balanced:
        silent = _fraction(share)
        full_rate = run.throughput / (1 - float(silent))
        text += (
            f"; the counts disagree too, so about {silent.numerator} of {silent.denominator} load"
            f" generators did not report, and throughput would be about {full_rate:.0f}"
            f" {unit_of(run.test_case)}/sec instead of {run.throughput:.1f}"
        )
        evidence["throughput_if_all_reported_msg_s"] = round(full_rate, 1)
    yield Finding(run.run, text, evidence)


def _fraction(share: float) -> Fraction:
    """The simplest fraction of load generators that explains the share."""
    candidates = [Fraction(share).limit_denominator(most) for most in range(2, MOST_TESTERS + 1)]
    near = [fraction for fraction in candidates if abs(fraction - share) <= TOLERANCE and fraction]
    return near[0] if near else Fraction(share).limit_denominator(100)


def _figures(row: Row) -> dict[str, float]:
    return {
        "threads": int(row.threads),
        "throughput_msg_s": row.throughput_msg_s,
        "latency_mean_s": row.latency_mean_s,
    }
