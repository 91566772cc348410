"""Internal metrics of nodes, aggregated over the window and over time."""

from typing import Any

import pandas as pd

Names = tuple[tuple[str, str, str], ...]
"""Kind, object and quantity of some figures."""

WAITING: Names = (("queues", "all", "messages"), ("links", "all", "undelivered"))
MEMORY: Names = tuple(("memory", thing, "used") for thing in ("node", "heap", "pools"))
DROPPED: Names = (("node", "node", "presettled_dropped"),)
"""Figures for each of these quantities, of which every node reports one."""


def node_summary(metrics: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the table ``node_summary`` of a run, from its rows of ``node_metrics``."""
    return [_over_window(str(node), rows) for node, rows in metrics.groupby("node", sort=False)]


def waiting(metrics: pd.DataFrame) -> pd.DataFrame:
    """Messages waiting in all nodes of a run, by second: ``run``, ``time_s``, ``value``."""
    return _by_second(_of_names(metrics, WAITING))


def memory(metrics: pd.DataFrame) -> pd.DataFrame:
    """Bytes used by all nodes of a run, by second: ``run``, ``time_s``, ``value``."""
    return _by_second(_of_names(metrics, MEMORY))


def collecting(metrics: pd.DataFrame) -> pd.DataFrame:
    """Seconds of garbage collection in each second: ``run``, ``time_s``, ``value``."""
    paused = metrics[metrics["kind"].eq("collector") & metrics["quantity"].eq("paused")]
    counters = paused.groupby(["run", "node", "object"], sort=False)
    steps = (rows.assign(value=_steps(rows)).sort_values("time_s")[1:] for _, rows in counters)
    return _by_second(pd.concat([paused[:0], *steps]))


def _by_second(rows: pd.DataFrame) -> pd.DataFrame:
    rounded = rows.assign(time_s=rows["time_s"].round())
    return rounded.groupby(["run", "time_s"], as_index=False)[["value"]].sum()


def _over_window(node: str, rows: pd.DataFrame) -> dict[str, Any]:
    waiting, memory, dropped = (_of_names(rows, names) for names in (WAITING, MEMORY, DROPPED))
    return {
        "node": node,
        "answers": rows["time_s"].nunique(),
        "waiting_max": waiting["value"].max(),
        "waiting_growth": _growth(waiting),
        "memory_max_bytes": memory["value"].max(),
        "collections": _total_growth(rows, "collections"),
        "paused_s": _total_growth(rows, "paused"),
        "presettled_dropped": _steps(dropped).sum() if len(dropped) else None,
    }


def _of_names(rows: pd.DataFrame, names: Names) -> pd.DataFrame:
    """The rows of these figures."""
    figures = zip(rows["kind"], rows["object"], rows["quantity"], strict=True)
    return rows[[figure in names for figure in figures]]


def _growth(rows: pd.DataFrame) -> float | None:
    values = rows.sort_values("time_s")["value"]
    return values.iloc[-1] - values.iloc[0] if len(values) else None


def _total_growth(rows: pd.DataFrame, quantity: str) -> float | None:
    """The growth of a counter over all collectors of a node; None if none reports it."""
    counts = rows[rows["kind"].eq("collector") & rows["quantity"].eq(quantity)]
    return (
        sum(_steps(count).sum() for _, count in counts.groupby("object")) if len(counts) else None
    )


def _steps(rows: pd.DataFrame) -> pd.Series:
    """Increments of a counter between answers; a restarted node counts from 0."""
    values = rows.sort_values("time_s")["value"]
    steps = values.diff().fillna(0.0)
    return steps.where(steps >= 0, values)
