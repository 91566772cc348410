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
    Column("contention", "float64", "alpha of the Universal Scalability Law: waiting for a share."),
    Column("coherency", "float64", "beta of the same: threads waiting for each other."),
    ratio(
        "peak_threads",
        "Threads at the peak of the fitted curve; empty where the law does not describe the sweep,"
        " or no peak is inside it.",
        "peak",
    ),
    ratio(
        "peak_threads_low",
        "Lower end of the 95 % interval of the peak, of the measured counts alone.",
        "peak low",
    ),
    ratio("peak_threads_high", "Upper end of it.", "peak high"),
    ratio(
        "saturation_threads",
        "Saturation point: where the bounds of a closed network cross.",
        "saturation point",
    ),
    ratio(
        "saturation_threads_low",
        "Lower end of its 95 % interval; empty when too few runs tell.",
        "saturation point low",
    ),
    ratio("saturation_threads_high", "Upper end of it.", "saturation point high"),
    DOUBTED,
    text(
        "peak_lies",
        "inside, below or beyond the sweep; plateau, when no fall after the best is more than"
        " chance; or cannot tell.",
    ),
    text("text", "The same as a sentence."),
)

SATURATION_RATES = (
    number("rates", "Offered rates that were measured.", "rates"),
    Column("deliveries_each", "float64", "Deliveries that each message is to have, mean."),
    rate(
        "kept_rate_msg_s",
        "Highest offered rate of which all deliveries were finished in the window, to 2 %; of a"
        " step within a run, less what was left of it. Empty where none was kept.",
        "kept up with",
    ),
    latency("kept_latency_mean_s", "Mean latency at that rate, over the repeats.", "mean there"),
    latency("kept_latency_p99_s", f"99th percentile of the same. {FEW}", "p99 there"),
    rate(
        "missed_rate_msg_s",
        "Lowest offered rate above it, or what was finished at a higher one if that is more; empty"
        " where all were kept.",
        "not kept up with",
    ),
    rate(
        "saturation_rate_msg_s",
        "Saturation point: the offered rate at which the best throughput would be all of it, no"
        " lower than the rate kept and no higher than the one missed; empty without both.",
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
    number("search_place", "Which search of the plan it belongs to, from 1."),
    text("search", "What that search is to find, as the plan says it, as JSON."),
    text("decide", "With which points its point is compared, and what is to be decided, as JSON."),
)
"""Columns of ``planned`` about the search, or the decision, that a run belongs to."""

SEARCHES = (
    text("hold", "What was to hold, beside the rate itself.", "to hold"),
    text(
        "search_ends",
        "How it ended: found; beyond, where all held up to the highest rate; below, where not even"
        " the lowest did; unfinished.",
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
        "The limit by all runs of the search: the rate at which half of them hold; empty where it"
        " did not end between two rates.",
        "limit",
    ),
    rate("limit_rate_msg_s_low", "Lower end of its 95 % interval.", "limit low"),
    rate("limit_rate_msg_s_high", "Upper end of it.", "limit high"),
    count("held_repeats", "Repeats that hold at that rate.", unit=""),
    number("search_runs", "Runs that the search has judged.", "runs"),
    text("broken_by", "What did not hold at the rate above, in the first run there.", "broken by"),
    text("text", "The same as a sentence."),
)

SUSTAINED = (
    rate(
        "sustained_throughput_msg_s",
        "Highest throughput of a point that keeps up and that no doubt says may be wrong, mean over"
        " the repeats; empty where there is none.",
        "sustained throughput",
    ),
    text("sustained_at", "Where in the sweep that is, in words."),
    text(
        "keeps_up",
        "Whether any point keeps up: yes; cannot tell, where the rate of sending is not known;"
        " tester or host, where at best these were the limit; or no.",
        "keeps up",
    ),
    rate(
        "highest_throughput_msg_s",
        "Highest throughput of any point, kept up or not, doubted or not, mean over the repeats.",
        "raw maximum",
    ),
    text("highest_at", "Where in the sweep that is, in words."),
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
        "Who ran out of CPU or network: tester, host, broker: NODE, network, none, cannot tell.",
        "bottleneck",
    ),
    text("because", "The figures that this rests on, as one sentence."),
)

CONDITIONS = (
    number("condition_place", "Place of its condition, and other names, in the plan, from 1."),
    ratio(
        "published_factor",
        "How many times the mean latency of the first condition a publication reports, as the plan"
        " says.",
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
        "repeats; within run, which knows nothing of other runs; after each repeat, of what was"
        " repeated until it was decided; between rates, of limits that were searched for; or none.",
    ),
    Column("p_value", "float64", "How often equals would differ by as much, by chance."),
    Column("p_adjusted", "float64", "The same, corrected for the number of comparisons."),
    Column("min_effect", "float64", "Minimum relevant difference: none below it is a verdict."),
    Column(
        "clock_share",
        "float64",
        "By how much clocks of several hosts may make the ratio of one-way latencies wrong, either"
        " way: a verdict, and its p-value, need a difference beyond it. 0 for all other figures.",
        "± by clocks",
    ),
    text("verdict", "better (B than A), worse, cannot tell; or alike, which decide alone tells."),
    Column(
        "detectable",
        "float64",
        "Relative difference that these repeats would show in 80 % of comparisons, were their"
        " spread known; as it is estimated, in about 70 % with three repeats and 75 % with five."
        " Only where the verdict is cannot tell, and both sides have repeats.",
    ),
    number(
        "repeats_needed",
        "Repeats of either side with which the difference that was seen, or the minimum relevant"
        " one where that is larger, would show in 80 % of comparisons, if runs go on to spread as"
        " these did. Only where the verdict is cannot tell, and both sides have repeats; empty"
        " beyond 1000.",
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
        f"of the 95 % interval of {name} from within the run, which knows nothing of other runs;"
        " empty where the window does not allow one: shorter than 20 s, not steady, or dominated by"
        " a few seconds."
    )
    return (
        _derived(name, "within_low", f"Lower end {of_name}"),
        _derived(name, "within_high", f"Upper end {of_name}"),
    )
