"""Survivor bias: points at which a relevant share of the messages has no latency.

A lost message has no latency, so figures of latency are of the other messages.  From a loss of 1 %
on, the 99th percentile of all sent messages would be that of a message which never arrived.
"""

from collections.abc import Mapping
from typing import Any

from mqperf.plan.test_cases import MESSAGES, unit_of, with_replies
from mqperf.study.stats.rules.finding import measured, of_actions
from mqperf.study.tables import Tables

LEAST_SHARE = 0.01
"""The share of messages without a latency from which on a point is reported."""


def survivors(tables: Tables) -> dict[str, str]:
    """Point -> what its latency leaves out, for each that lacks ``LEAST_SHARE`` of its latencies.

    This is no doubt: an action of the plan may have caused the losses, and other losses raise
    doubts of their own (``lost``, ``client-errors``).
    """
    frame = measured(tables).dropna(subset=["point", "lost", "asked", "latency_mean_s"])
    has_replies = frame["test_case"].isin(with_replies())
    errors = frame["errors"].fillna(0).where(has_replies, 0)
    missing = frame["lost"].clip(lower=0) + errors
    if not missing.any():
        return {}
    planned_errors = of_actions(tables, frame, "errors").where(has_replies, 0)
    counts = frame[["point", "test_case", "asked"]].assign(
        missing=missing,
        planned=of_actions(tables, frame, "lost") + planned_errors,
    )
    sums = counts.groupby(["point", "test_case"], sort=False).sum().reset_index()
    rows = sums[(sums["missing"] > 0) & (sums["missing"] >= LEAST_SHARE * sums["asked"])]
    return {row["point"]: _sentence(row) for row in rows.to_dict("records")}


def _sentence(row: Mapping[Any, Any]) -> str:
    unit = unit_of(row["test_case"]).replace(MESSAGES, "messages")
    text = (
        f"latency is of what arrived: {100 * row['missing'] / row['asked']:.2g} % of"
        f" {row['asked']:.0f} {unit} did not"
    )
    if row["planned"] >= row["missing"]:
        return f"{text}, during actions of the plan"
    return text + f", {row['planned']} of them during actions of the plan" * bool(row["planned"])
