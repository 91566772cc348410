"""Searches for the highest rate that holds a condition: a table, and how to read it."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.report.rst import Grid
from mqperf.pages.report.words import cell
from mqperf.plan.columns import COLUMNS, parameters

TOLD = (
    *("held_rate_msg_s", "broken_rate_msg_s", "throughput_msg_s"),
    *("throughput_msg_s_low", "throughput_msg_s_high", "latency_p99_s", "search_runs", "limit"),
    *("search_ends", "doubted"),
)

AS_OFFERED = ("held_rate_msg_s", "broken_rate_msg_s")
"""What is printed as a plan has it: these are offered rates."""


def about(found: pd.DataFrame) -> Iterator[str]:
    """How the rates were found, then what was found, a sentence each."""
    yield (
        "Each search is a bisection of the range of offered rates, until it is as narrow as the"
        " plan asks. A rate holds if most of its runs do; the interval is that of the repeats at"
        " the highest such rate."
    )
    yield from found["text"]


def grid(caption: str, found: pd.DataFrame) -> Grid:
    """A row for each search, with what tells it from the others."""
    apart = [
        name
        for name in ("threads", "condition", *parameters())
        if name in found.columns and len(found[name].unique()) > 1
    ]
    shown = [name for name in TOLD if found[name].notna().any()]
    names = ("hold", *apart, *shown)
    rows = tuple(
        tuple(cell("rate_msg_s" if name in AS_OFFERED else name, row[name]) for name in names)
        for row in found.to_dict("records")
    )
    return Grid(caption, tuple(COLUMNS[name].heading() for name in names), rows)
