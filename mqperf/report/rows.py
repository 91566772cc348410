"""The rows of the reports' tables: whole tables in, what one section prints out."""

import pandas as pd

from mqperf.columns import COUNTS
from mqperf.report import limits
from mqperf.tables import Tables, told_by_processes

SWEEP = (
    *(
        "threads",
        "processes",
        "throughput_msg_s",
        "latency_mean_s",
        "cpu_total_cores",
        "bottleneck",
    ),
    *("throughput_msg_s_low", "throughput_msg_s_high", "throughput_sd_msg_s", "send_rate_msg_s"),
    *("latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s", "latency_p999_s"),
    *("latency_max_s", "cpu_sys_cores", "published_throughput_msg_s", "published_latency_s"),
    *("repeats", "failed"),
)


FACTORS = ("green_threads", "processes")
"""Of which the number of threads is the product, with the hosts."""


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows for others to read: with the number of processes where it tells points apart."""
    return rows if told_by_processes(rows) else rows.drop(columns=list(FACTORS))


def attempts(tables: Tables) -> pd.DataFrame:
    """One row per attempt, the failed ones too: its messages, repeat, status and failure."""
    names = ["run", "point", "threads", *FACTORS, "repeat", "status", "failure"]
    counts = tables["messages"][["run", *COUNTS]]
    joined = tables["runs"][names].merge(counts, on="run", how="left")
    order = ["threads", "processes", "repeat"]
    return joined.sort_values(order, kind="stable").reset_index(drop=True)


def sweep(tables: Tables) -> pd.DataFrame:
    """One row per point: its figures over the repeats, and what ``points`` leaves out.

    Send rate, standard deviation and the figures in the manner of 2016 are means over the whole
    runs, the largest latency is the largest of them; the ``bottleneck`` is told
    where all repeats agree.
    """
    runs = tables["runs"]
    whole = set(runs.loc[runs["status"].isin(["done", "published"]), "run"])
    messages, latency = (
        frame[frame["run"].isin(whole)].groupby("point")
        for frame in (tables["messages"], tables["latency"])
    )
    rates = ["send_rate_msg_s", "throughput_sd_msg_s", "published_throughput_msg_s"]
    figures = tables["points"].merge(messages[rates].mean(), on="point", how="left")
    figures = figures.merge(latency[["published_latency_s"]].mean(), on="point", how="left")
    figures = figures.merge(latency[["latency_max_s"]].max(), on="point", how="left")
    figures = figures.merge(limits.of_points(tables), on="point", how="left")
    order = ["threads", "processes"]
    return figures.sort_values(order, kind="stable").reset_index(drop=True)


def nodes(cpu: pd.DataFrame) -> pd.DataFrame:
    """CPU over the window, tidy: ``point``, threads, ``process``, ``kind``, total and sys.

    Broker nodes one by one; all clients together, all servers together, and the host.  Means over
    the repeats.
    """
    window = cpu[(cpu["scope"] == "window") & ~cpu["kind"].isin(["harness", "total"])]
    plural = {"client": "clients", "server": "servers"}
    named = window.assign(
        process=window["process"].where(
            ~window["kind"].isin(list(plural)), window["kind"].map(plural)
        )
    )
    keys = ["point", "threads", *(name for name in FACTORS if name in cpu.columns)]
    used = ["total_cores", "sys_cores"]
    of_run = named.groupby([*keys, "run", "kind", "process"], sort=False, dropna=False)
    total = of_run[used].sum().reset_index()
    of_point = total.groupby([*keys, "kind", "process"], sort=False, as_index=False, dropna=False)
    return of_point[used].mean()


def outages(tables: Tables) -> pd.DataFrame:
    """One row per action of a run: what it did, with the run's lost messages and errors."""
    counts = tables["messages"][["run", "lost", "errors"]]
    joined = tables["outages"].merge(counts, on="run", how="left")
    order = ["threads", "repeat", "commanded_s"]
    return joined.sort_values(order, kind="stable").reset_index(drop=True)


def wide(used: pd.DataFrame) -> pd.DataFrame:
    """The same with a row per point, and a column per process and figure.

    Columns are ``threads``, ``processes`` where they tell points apart, ``total_cores Master`` and
    so on: first the total of every broker node, then its system part, then the totals of everybody
    else.  The index is the point.
    """
    apart = "processes" in used.columns and told_by_processes(used)
    keys = ["threads", "processes"] if apart else ["threads"]
    brokers = list(used.loc[used["kind"] == "broker", "process"].unique())
    others = list(used.loc[used["kind"] != "broker", "process"].unique())
    figures = ["total_cores", "sys_cores"]
    table = used.pivot_table(index=[*keys, "point"], columns="process", values=figures)
    table.columns = [" ".join(names) for names in table.columns]
    order = [
        *(f"total_cores {node}" for node in brokers),
        *(f"sys_cores {node}" for node in brokers),
        *(f"total_cores {other}" for other in others),
    ]
    return table.reindex(columns=order).reset_index(keys)
