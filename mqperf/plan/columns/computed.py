"""Columns of computed tables: points, saturation, searches, bottlenecks, comparison."""

from collections.abc import Iterable
from dataclasses import replace

from mqperf.plan.columns.column import Column, count, cpu, latency, number, rate, ratio, text
from mqperf.plan.columns.measured import FEW, LATENCY, MESSAGES
from mqperf.plan.latencies import LATENCIES

FIGURES = (
    "throughput_msg_s",
    *LATENCIES,
    *("cpu_total_cores", "cpu_sys_cores", "cpu_per_message_s"),
)
"""Figures of a point that have columns for their spread over repeats."""

FOLLOWED = ("throughput_msg_s", "latency_p50_s", "latency_p99_s")
"""Figures of the trend over folders, and of the rate that a search finds."""

WITHIN = tuple(name for name in FIGURES if not name.startswith("cpu_"))
"""Figures of a run that have an interval computed from within the run."""

POINTS = (
    count("repeats", "Whole runs of the point.", unit=""),
    count("failed", "Failed attempts at the point, and runs that cannot be read.", unit=""),
    cpu(
        "cpu_total_cores",
        "CPU of all broker nodes over the window; one that is down uses 0.",
        "CPU",
    ),
    cpu("cpu_sys_cores", "System part of the CPU of all broker nodes.", "CPU sys"),
    Column(
        "cpu_per_message_s",
        "float64",
        "CPU of all broker nodes for one finished message: both over the window.",
        "CPU per message",
        "s",
        "µs",
        1e6,
        "not negative",
    ),
)


DOUBTED = text(
    "doubted",
    "Kinds of doubts about the point with the best throughput, on which the saturation point"
    " rests.",
)


SATURATION_POINTS = (
    Column("points", "Int64", "Thread counts that were measured."),
    Column("fit_error", "float64", "Typical relative distance of runs from the fitted curve."),
    Column("contention", "float64", "alpha of the Universal Scalability Law: contention."),
    Column("coherency", "float64", "beta of the same law: threads waiting for each other."),
    ratio(
        "peak_threads",
        "Threads at the peak of the fitted curve; empty where the law does not describe the sweep,"
        " or no peak is inside it.",
        "peak",
    ),
    ratio(
        "peak_threads_low",
        "Lower end of the 95 % interval of the peak, among the measured counts.",
        "peak low",
    ),
    ratio("peak_threads_high", "Upper end of that interval.", "peak high"),
    ratio(
        "saturation_threads",
        "Saturation point: where the two bounds on throughput cross.",
        "saturation point",
    ),
    ratio(
        "saturation_threads_low",
        "Lower end of its 95 % interval; empty with too few runs.",
        "saturation point low",
    ),
    ratio("saturation_threads_high", "Upper end of that interval.", "saturation point high"),
    DOUBTED,
    text(
        "peak_lies",
        "Where the peak is: inside, below or beyond the sweep; plateau, if no fall after the best"
        " throughput is significant; or cannot tell.",
    ),
    text("text", "The same as a sentence."),
)

SATURATION_RATES = (
    number("rates", "Offered rates that were measured.", "rates"),
    Column("deliveries_each", "float64", "Deliveries that each message is to have, mean."),
    rate(
        "kept_rate_msg_s",
        "Highest offered rate at which all deliveries were finished in the window, to 2 %; for a"
        " step within a run, less its unfinished rest. Empty if there is none.",
        "kept up with",
    ),
    latency("kept_latency_mean_s", "Mean latency at that rate, over the repeats.", "mean latency"),
    latency("kept_latency_p99_s", f"99th percentile of the same. {FEW}", "p99 latency"),
    rate(
        "missed_rate_msg_s",
        "Lowest offered rate above it, or the throughput at a higher one if that is more; empty if"
        " the system kept up with all.",
        "not kept up with",
    ),
    rate(
        "saturation_rate_msg_s",
        "Saturation point: the offered rate that equals the best throughput, not below the rate"
        " kept up with and not above the one missed; empty without both.",
        "saturation point",
    ),
    rate(
        "top_throughput_msg_s",
        "Best throughput over all rates, mean over the repeats; of deliveries, where each message"
        " has several.",
        "top throughput",
    ),
    DOUBTED,
    text(
        "limit",
        "The bottleneck at the first rate that was missed, where all repeats agree on it.",
        "bottleneck there",
    ),
    text("text", "The same as a sentence."),
)

SEARCHED = (
    number("search_place", "Number of the search in the plan that it belongs to, from 1."),
    text("search", "Definition of that search in the plan, as JSON."),
    text("decide", "Points that its point is compared with, and what is to be decided, as JSON."),
)
"""Columns of ``planned`` about the search, or the decision, that a run belongs to."""

SEARCHES = (
    text("hold", "The condition that must hold, beside the rate itself.", "must hold"),
    text(
        "search_ends",
        "How it ended: found; beyond, if all rates up to the highest hold; below, if not even the"
        " lowest does; unfinished.",
        "search",
    ),
    rate("search_from_msg_s", "Lowest rate of the search.", "searched from"),
    rate("search_to_msg_s", "Highest rate of the search.", "searched up to"),
    rate(
        "held_rate_msg_s",
        "Highest offered rate at which most repeats hold; empty where there is none.",
        "holds at",
    ),
    rate(
        "broken_rate_msg_s",
        "Lowest offered rate above it at which most do not; empty where there is none.",
        "does not hold at",
    ),
    rate(
        "limit_rate_msg_s",
        "The limit, estimated from all runs of the search: the rate at which half of them hold;"
        " empty if it did not end between two rates.",
        "limit",
    ),
    rate("limit_rate_msg_s_low", "Lower end of its 95 % interval.", "limit low"),
    rate("limit_rate_msg_s_high", "Upper end of that interval.", "limit high"),
    count("held_repeats", "Repeats that hold at that rate.", unit=""),
    number("search_runs", "Runs that the search has judged.", "runs"),
    text("broken_by", "What did not hold at the rate above, in the first run there.", "broken by"),
    text("text", "The same as a sentence."),
)

SUSTAINED = (
    rate(
        "sustained_throughput_msg_s",
        "Highest throughput of a point that keeps up and whose throughput is not in doubt, mean"
        " over the repeats; empty if there is none.",
        "sustained throughput",
    ),
    text("sustained_at", "The point of the sweep where it was measured, in words."),
    text(
        "keeps_up",
        "Whether any point keeps up, the best of: yes; cannot tell, if the send rate is not known;"
        " tester or host, if these were the limit; no.",
        "keeps up",
    ),
    rate(
        "highest_throughput_msg_s",
        "Highest throughput of any point, keeping up or not, in doubt or not, mean over repeats.",
        "raw maximum",
    ),
    text("highest_at", "The point of the sweep where it was measured, in words."),
)

SUSTAINED_COMPARED = (
    rate(
        "highest_a", "Highest throughput of any point of A, sustained or not.", "raw maximum of A"
    ),
    rate(
        "highest_b", "Highest throughput of any point of B, sustained or not.", "raw maximum of B"
    ),
)

BOTTLENECKS = (
    text(
        "bottleneck",
        "What ran out of CPU or network: tester, host, broker: NODE, network, none, cannot tell.",
        "bottleneck",
    ),
    text("because", "The figures that show it, as one sentence."),
)

CONDITIONS = (
    number("condition_place", "Place of its condition, and other names, in the plan, from 1."),
    ratio(
        "published_factor",
        "Mean latency relative to that of the first condition, as a publication reports it and the"
        " plan quotes it.",
        "published",
    ),
)

COMPARISON = (
    text("figure", "The column that is compared."),
    Column("value_a", "float64", "Mean over the runs of A, in the unit of the figure.", "A"),
    Column("value_b", "float64", "Mean over the runs of B.", "B"),
    Column("repeats_a", "Int64", "Whole runs of A.", "repeats of A"),
    Column("repeats_b", "Int64", "Whole runs of B.", "repeats of B"),
    Column("ratio", "float64", "B / A.", "B / A"),
    Column("ratio_low", "float64", "Lower end of its interval.", "B / A low"),
    Column("ratio_high", "float64", "Upper end of its interval.", "B / A high"),
    text(
        "interval_kind",
        "repeats; within run, without the variation between runs; after each repeat, for points"
        " repeated until decided; between rates, for limits found by a search; or none.",
    ),
    Column("p_value", "float64", "How often equal sides would differ by as much, by chance."),
    Column("p_adjusted", "float64", "The same, corrected for the number of comparisons."),
    Column("min_effect", "float64", "Minimum relevant difference: a smaller one gives no verdict."),
    Column(
        "clock_share",
        "float64",
        "Error bound of the ratio of one-way latencies due to the clocks of several hosts, either"
        " way: a verdict, and its p-value, need a larger difference. 0 for all other figures.",
        "± by clocks",
    ),
    text("verdict", "better (B than A), worse, cannot tell; or alike, which only decide can give."),
    Column(
        "detectable",
        "float64",
        "Relative difference that these repeats would show in 80 % of comparisons, were their"
        " spread known; as it is estimated, in about 70 % with three repeats and 75 % with five."
        " Only where the verdict is cannot tell, and both sides have repeats.",
    ),
    number(
        "repeats_needed",
        "Repeats of either side with which the observed difference, or the minimum relevant one if"
        " larger, would be found in 80 % of comparisons, if runs vary as much as these did. Only"
        " where the verdict is cannot tell, both sides have repeats, and a feasible number does.",
        "repeats to decide",
    ),
    text(
        "in_turns",
        "in turns, when runs of A and of B alternated in time: the set changes at least as often as"
        " the smaller one has runs of the point; A first or B first, when all its runs in one set"
        " precede those in the other, so that whatever changed meanwhile looks like a difference of"
        " the systems; in part, when it is neither; or not known.",
    ),
    text("doubted", "Kinds of doubts about the point, in A and in B."),
)

DIFFERENCES = (
    text("aspect", "hardware, versions, plan or measuring."),
    text("what", "Heading of the column in which they differ."),
    text("value_in_a", "Its values in A; not stated where there are none."),
    text("value_in_b", "Its values in B."),
)


MEASURED = {column.name: column for column in (*MESSAGES, *LATENCY, *POINTS)}
"""The columns of figures, by name."""


def _derived(name: str, suffix: str, meaning: str) -> Column:
    base = MEASURED[name]
    label = f"{base.label} {suffix.replace('_', ' ')}"
    return Column(f"{name}_{suffix}", "float64", meaning, label, base.unit, base.shown, base.scale)


def spread(name: str) -> tuple[Column, ...]:
    """Return the columns of a figure's spread over repeats."""
    of_name = f"of {name} over the repeats; empty for a single run."
    return (
        _derived(name, "sd", f"Standard deviation {of_name}"),
        _derived(name, "low", f"Lower end of the 95 % interval {of_name}"),
        _derived(name, "high", f"Upper end of the 95 % interval {of_name}"),
    )


def with_prefix(figures: Iterable[str], prefix: str) -> tuple[Column, ...]:
    """Return the columns of the figures, with a sentence put before each meaning."""
    columns = (MEASURED[name] for name in figures)
    return tuple(replace(column, meaning=f"{prefix} {column.meaning}") for column in columns)


def means(*figures: str) -> tuple[Column, ...]:
    """Return the columns of a point's mean figures, each followed by those of its spread."""
    columns = with_prefix(figures, "Mean over the whole runs.")
    return tuple(column for mean in columns for column in (mean, *spread(mean.name)))


def with_intervals(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Insert after each figure in ``WITHIN`` the columns of its interval from within the run."""
    return tuple(each for column in columns for each in (column, *_interval(column.name)))


def _interval(name: str) -> tuple[Column, ...]:
    if name not in WITHIN:
        return ()
    of_name = (
        f"of the 95 % interval of {name} computed within the run, without the variation between"
        " runs; empty where the window does not allow one: shorter than 20 s, not steady, or"
        " dominated by a few seconds."
    )
    return (
        _derived(name, "within_low", f"Lower end {of_name}"),
        _derived(name, "within_high", f"Upper end {of_name}"),
    )
