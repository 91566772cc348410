"""Latencies over what arrived: points of which a relevant share of the messages never did.

A message that is lost has no latency, so that all figures of latency are of the others.  From 1 %
on, the 99th percentile of all that was sent would be that of a message which never came.
"""

from collections.abc import Mapping
from typing import Any

from mqperf.plan.test_cases import MESSAGES, unit_of, with_replies
from mqperf.study.stats.rules.finding import measured, of_actions
from mqperf.study.tables import Tables

LEAST_SHARE = 0.01
"""The share of messages without a latency from which on that is said."""


def survivors(tables: Tables) -> dict[str, str]:
    """Point -> what its latency leaves out, for each whose runs have no latency of so many.

    It is no doubt: an action of the plan may have cost them, and those that none cost are doubted
    anyway (``lost``, ``client-errors``).
    """
    frame = measured(tables).dropna(subset=["point", "lost", "asked", "latency_mean_s"])
    failed = frame["test_case"].isin(with_replies())
    errors = frame["errors"].fillna(0).where(failed, 0)
    missing = frame["lost"].clip(lower=0) + errors
    if not missing.any():
        return {}
    spared = of_actions(tables, frame, "errors").where(failed, 0)
    counts = frame[["point", "test_case", "asked"]].assign(
        missing=missing,
        planned=of_actions(tables, frame, "lost") + spared,
    )
    sums = counts.groupby(["point", "test_case"], sort=False).sum().reset_index()
    rows = sums[(sums["missing"] > 0) & (sums["missing"] >= LEAST_SHARE * sums["asked"])]
    return {row["point"]: _words(row) for row in rows.to_dict("records")}


def _words(row: Mapping[Any, Any]) -> str:
    unit = unit_of(row["test_case"]).replace(MESSAGES, "messages")
    text = (
        f"latency is of what arrived: {100 * row['missing'] / row['asked']:.2g} % of"
        f" {row['asked']:.0f} {unit} did not"
    )
    if row["planned"] >= row["missing"]:
        return f"{text}, during actions of the plan"
    return text + f", {row['planned']} of them during actions of the plan" * bool(row["planned"])
