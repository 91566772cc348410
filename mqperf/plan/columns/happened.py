"""Columns of events, rate steps, links, actions, background loads and doubts."""

from dataclasses import replace

from mqperf.plan.columns.column import Column, count, latency, number, rate, seconds, text
from mqperf.plan.columns.measured import FEW
from mqperf.plan.columns.runs import LINK

EVENTS = (
    seconds("time_s", "Time since the start of the measured window.", "time"),
    text("host", "Where."),
    text(
        "what",
        "provisioned, start, measured, drained, ...; alarm or deprecated for such a line in a"
        " broker's log, unread for an unreadable record beside the run.",
    ),
    text("detail", "Details, as JSON."),
)

RATE_STEPS = (
    rate("step_rate_msg_s", "Offered rate of the step.", "offered rate"),
    seconds("from_s", "When its first whole second in the window begins.", "from"),
    seconds("until_s", "When its last one ends.", "until"),
    rate("throughput_msg_s", "Messages finished per second in this time.", "throughput"),
    count("unfinished", "Deliveries due since the start of the load and not finished by then."),
    latency("latency_mean_s", "Mean, of messages due in them, however late they finished.", "mean"),
    latency("latency_min_s", "The least of any message of the run, of an empty system.", "min"),
    latency("latency_p99_s", f"99th percentile of the messages due in the step. {FEW}", "p99"),
)

UNITS = ("_bits_s", "_share", "_s")
"""Unit suffixes of a link's quantities, the longest first."""


def measured_column(quantity: str, when: str) -> str:
    """Return the column of a link's quantity measured before or after: ``delay_before_s``."""
    unit = next(suffix for suffix in UNITS if quantity.endswith(suffix))
    return f"{quantity.removesuffix(unit)}_{when}{unit}"


_LINK_ORIGIN = (
    text("between", "The two roles that the link joins.", "between"),
    text("backend", "What emulated it.", "made by"),
)
_LINK_MEASURED = tuple(
    replace(
        column,
        name=measured_column(column.name, when),
        dtype="float64",
        meaning=f"The same as measured {when} the load; empty where that cannot be measured.",
        label=f"{column.label} {when}",
        parameter=False,
    )
    for column in LINK
    for when in ("before", "after")
)
PACKETS = {
    "came": "that came to the link",
    "lost": "that it lost on purpose",
    "full": "for which it had no room",
    "swallowed": "that it dropped while it was closed",
    "unread": "that came faster than they could be read",
    "impaired": "that came while an action impaired it, and are in none of the above but this",
    "left": "that left it",
}
"""Fates of packets, by their key in the record; each completes "Packets ..."."""

_PACKETS = (
    *(
        Column(
            f"packets_{name}",
            "float64",
            f"Packets {meaning}, from before the load until after it.",
            f"packets {name}",
            "packets",
            check="not negative",
        )
        for name, meaning in PACKETS.items()
    ),
    seconds(
        "packets_late_s",
        "Total time by which the packets that left were too late.",
        "packets late",
        "not negative",
    ),
)
LINKS = _LINK_ORIGIN + _LINK_MEASURED + _PACKETS

LINK_COLUMNS = tuple(column.name for column in _LINK_ORIGIN + LINK + _LINK_MEASURED)
"""Columns of a link that reports show, where they have values."""

OUTAGES_COLUMNS = (
    text("action", "What was done: the name of the action.", "action"),
    text("node", "Label of the node to which it was done, or `the link`.", "node"),
    seconds("commanded_s", "Planned start.", "planned start"),
    seconds("began_s", "Observed start.", "began"),
    seconds("ended_s", "Observed end.", "ended"),
    seconds("downtime_s", "Observed duration of the action.", "downtime", "not negative"),
    seconds(
        "outage_s",
        "Longest time without a finished message that overlaps the action or its recovery. Where"
        " counts are recorded, one of less than 1 s may be missed.",
        "outage",
        "not negative",
    ),
    rate(
        "level_msg_s",
        "Messages finished per second before the action, since the start of the window or since"
        " 3 s after the action before; empty when that is less than 1 s.",
        "throughput before",
    ),
    seconds(
        "recovery_s",
        "From the end of the action until throughput is back at 90 % of its level before, in the"
        " next second and over the next 3 s; checked every 0.1 s, or where counts are recorded at"
        " every full second. Empty when that was not reached within the load, or the level is not"
        " known.",
        "recovery",
        "not negative",
    ),
)

ACTION_PHASES_COLUMNS = (
    seconds("commanded_s", "Planned start of the action.", "planned start"),
    text(
        "phase",
        "before; during, from the second before the action began to the end of that in which"
        " throughput was back, or until the next action began; or after.",
        "phase",
    ),
    seconds("from_s", "When the phase begins.", "from"),
    seconds("until_s", "When it ends.", "until"),
    count("sent", "Messages due in it, or sent in it if none are due.", "sent"),
    count("finished", "Those of them that were finished, whenever that was.", "finished"),
    Column(
        "lost",
        "Int64",
        "Those of them that got neither reply nor error where servers answer, or else that no"
        " server received. Empty where counts are recorded and several clocks, duplicates or"
        " foreign messages make that impossible.",
        "lost",
        "msg",
    ),
    count("errors", "Those of them that ended in an error at the client.", "errors"),
    count("released", "Those of them that routers or receivers gave back.", "released"),
    count("modified", "Those of them that were given back as perhaps tried already.", "modified"),
    count("rejected", "Those of them that receivers, or the broker, refused.", "rejected"),
    latency("latency_p50_s", f"Median latency of those that were finished. {FEW}", "p50"),
    latency("latency_p99_s", f"99th percentile of the same. {FEW}", "p99"),
    latency("latency_max_s", "The largest of them.", "max"),
)

BACKGROUND_COLUMNS = (
    number("background", "Which background load of the run, from 1."),
    text("load", "What it is: test case, generator, threads, parameters.", "background load"),
)

BACKGROUND = (
    "load",
    *("sent", "received", "lost", "errors", "throughput_msg_s"),
    *("latency_mean_s", "latency_p50_s", "latency_p99_s"),
)
"""Columns of a background load that reports show."""

OUTAGES = ("action", "node", "began_s", "downtime_s", "outage_s", "recovery_s", "level_msg_s")
"""Columns of an action that reports show."""

REFUSALS = ("released", "modified", "rejected")
"""Outcomes of messages over AMQP 1.0 that were not accepted."""

COST = ("lost", "errors", *REFUSALS)
"""Counts of messages that an action may have harmed."""

ACTION_PHASES = ("action", "node", *(column.name for column in ACTION_PHASES_COLUMNS))
"""Columns of the times before, during and after an action."""

DOUBTS = (
    text("kind", "The check that raised it."),
    text("text", "Reason to distrust the number, as one sentence."),
    text("evidence", "The figures used, as JSON."),
)
