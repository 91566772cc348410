"""Where sweeps of offered rates saturate: a table, and how to read it."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.report.rst import Grid
from mqperf.pages.report.words import cell
from mqperf.plan.columns import COLUMNS, parameters

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
        "An offered rate is kept if 98 % of its deliveries were finished within the window. The"
        " saturation point is the offered rate that equals the best throughput: it is between the"
        " highest rate that was kept and the next one."
    )
    if rates["missed_rate_msg_s"].isna().any():
        yield "If every rate was kept, it is above the sweep."
    if rates["kept_rate_msg_s"].isna().any():
        yield "If none was, it is below the sweep."


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
