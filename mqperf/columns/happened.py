"""Columns of what else there was: events, actions, links, background loads, doubts."""

from dataclasses import replace

from mqperf.columns.column import Column, rate, seconds, text
from mqperf.columns.runs import LINK

EVENTS = (
    seconds("time_s", "When, since the start of the measured window.", "time"),
    text("host", "Where."),
    text(
        "what",
        "provisioned, start, measured, drained, ...; alarm for one in a broker's log, unread for"
        " a record beside the run that cannot be read.",
    ),
    text("detail", "More, as JSON."),
)

UNITS = ("_bits_s", "_share", "_s")
"""How the names of a link's quantities end, the longest first."""


def measured_column(quantity: str, when: str) -> str:
    """Name the column of a link's quantity as measured before or after: ``delay_before_s``."""
    unit = next(end for end in UNITS if quantity.endswith(end))
    return f"{quantity.removesuffix(unit)}_{when}{unit}"


LINKS = (
    text("between", "The two roles that it joins.", "between"),
    text("backend", "What made it.", "made by"),
    *(
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
    ),
)

OUTAGES_COLUMNS = (
    text("action", "What was done: the name of the action.", "action"),
    text("node", "Label of the node to which it was done.", "node"),
    seconds("commanded_s", "When the plan wants it to begin.", "asked at"),
    seconds("began_s", "When it had begun, as observed.", "began"),
    seconds("ended_s", "When it was undone, as observed.", "ended"),
    seconds("downtime_s", "From the one to the other.", "downtime", "not negative"),
    seconds(
        "outage_s",
        "Longest time without a finished message that overlaps the action. Where counts are"
        " recorded, of whole seconds only: the real one may be up to 2 s longer.",
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
        " next second and over the next 3 s; sought every 0.1 s, or where counts are recorded at"
        " every full second. Empty when that was not reached"
        " within the load, or the level is not known.",
        "recovery",
        "not negative",
    ),
)

BACKGROUND_COLUMNS = (
    Column("background", "Int64", "Which background load of the run, from 1.", check="positive"),
    text("load", "What it is: test case, generator, threads, parameters.", "background load"),
)

BACKGROUND = (
    "load",
    "sent",
    "received",
    "lost",
    "errors",
    "throughput_msg_s",
    "latency_mean_s",
    "latency_p50_s",
    "latency_p99_s",
)
"""What readers want to know of a background load."""

OUTAGES = ("action", "node", "began_s", "downtime_s", "outage_s", "recovery_s", "level_msg_s")
"""What readers want to know of an action."""

DOUBTS = (
    text("kind", "Which check raised it."),
    text("text", "Reason to distrust the number, as one sentence."),
    text("evidence", "The figures used, as JSON."),
)
