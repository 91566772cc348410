"""Section on the saturation of sweeps of offered rates."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.sections.rate_steps import KEPT
from mqperf.pages.sections.section import Content, Section, View, present
from mqperf.plan.columns import COLUMNS, parameters

RATE_COLUMNS = (
    "kept_rate_msg_s",
    "kept_latency_mean_s",
    "kept_latency_p99_s",
    "missed_rate_msg_s",
    "saturation_rate_msg_s",
    "top_throughput_msg_s",
    "limit",
    "doubted",
)


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each sweep of rates, with the columns that distinguish it."""
    rates = view.tables["saturation_rates"]
    names = (*differing(rates, "threads"), *present(rates, RATE_COLUMNS, keep=()))
    yield Content(
        heading="Saturation",
        words=[*_words(rates, view.tables["rate_steps"])],
        caption=view.caption("saturation by offered rate"),
        rows=rates,
        columns={name: COLUMNS[name].heading() for name in names},
    )


def differing(rows: pd.DataFrame, *names: str) -> list[str]:
    """Return those of the named columns, and of the parameters of plans, whose values differ."""
    candidates = dict.fromkeys((*names, *parameters()))
    return [name for name in candidates if name in rows.columns and len(rows[name].unique()) > 1]


def _words(rates: pd.DataFrame, steps: pd.DataFrame) -> Iterator[str]:
    """Yield the definitions of terms, and what is not known."""
    if len(steps):
        yield KEPT
        yield (
            "If a later step finished more than the first that was not kept, the rate not kept up"
            " with is the throughput of that step."
        )
    if rates["saturation_rate_msg_s"].notna().any() or steps.empty:
        yield (
            "An offered rate is kept if 98 % of its deliveries were finished within the window. The"
            " saturation point is the offered rate that equals the best throughput: it is between"
            " the highest rate that was kept and the next one."
        )
    if rates["missed_rate_msg_s"].isna().any():
        yield "If every rate was kept, higher ones may be, too."
    if rates["kept_rate_msg_s"].isna().any():
        yield "If none was, lower ones may be."


SECTION = Section("saturation_rates", content)
