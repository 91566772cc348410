"""Where sweeps of offered rates saturate: a table, and how to read it."""

from collections.abc import Iterator

import pandas as pd

from mqperf.columns import COLUMNS, parameters
from mqperf.report.rst import Grid
from mqperf.report.words import cell

TOLD = (
    "kept_rate_msg_s",
    "missed_rate_msg_s",
    "saturation_rate_msg_s",
    "top_throughput_msg_s",
    "limit",
    "doubted",
)

AS_OFFERED = {"kept_rate_msg_s": "rate_msg_s", "missed_rate_msg_s": "rate_msg_s"}
"""What is printed as the plan has it: it is one of its rates."""


def about(rates: pd.DataFrame) -> Iterator[str]:
    """What is meant, and what is not known."""
    yield (
        "An offered rate is kept up with where 98 % of its deliveries were finished within the"
        " window. The saturation point is where the best throughput would be all that is offered:"
        " between the highest rate that was kept up with and the next."
    )
    if rates["missed_rate_msg_s"].isna().any():
        yield "Where every rate was kept up with, it lies beyond the sweep."
    if rates["kept_rate_msg_s"].isna().any():
        yield "Where none was, it lies below the sweep."


def grid(caption: str, rates: pd.DataFrame) -> Grid:
    """A row for each sweep of rates, with what tells it from the others."""
    apart = [
        name
        for name in ("threads", *parameters())
        if name in rates.columns and len(rates[name].unique()) > 1
    ]
    shown = [name for name in TOLD if rates[name].notna().any()]
    headings = tuple(COLUMNS[name].heading() for name in (*apart, *shown))
    rows = tuple(
        tuple(cell(AS_OFFERED.get(name, name), row[name]) for name in (*apart, *shown))
        for row in rates.to_dict("records")
    )
    return Grid(caption, headings, rows)
