"""The rows of sections: functions from all tables to the table of one section."""

import pandas as pd

from mqperf.pages.report import limits
from mqperf.plan.columns import COST, COUNTS, parameters
from mqperf.plan.test_cases import streams
from mqperf.study.tables import Tables, completed, in_curves, over_repeats, varied, with_parameters
from mqperf.study.tables.axes import FACTORS
from mqperf.study.tables.clocks import UNSURE
from mqperf.study.tables.repeats import by_point

POINTS = (
    *(
        "threads",
        "processes",
        "throughput_msg_s",
        "latency_mean_s",
        "cpu_total_cores",
        "cpu_per_message_s",
        "bottleneck",
    ),
    *("throughput_msg_s_low", "throughput_msg_s_high", "throughput_sd_msg_s", "send_rate_msg_s"),
    *("latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s", "latency_p999_s"),
    *("latency_max_s", "cpu_sys_cores", "published_throughput_msg_s", "published_latency_s"),
    *("repeats", "failed"),
)
"""The figures of a point that are shown, if they are known."""

LATENCIES = tuple(name for name in POINTS if name.startswith("latency_"))
"""Columns with an error from clocks, whose bound is in the column ``UNSURE``."""


def attempts(tables: Tables) -> pd.DataFrame:
    """Return one row per attempt, also failed ones: messages, repeat, status and failure."""
    runs, counts = tables["runs"], tables["messages"][["run", *COUNTS]]
    factors = dict.fromkeys((*FACTORS, *varied(runs)))
    names = ["run", "point", "threads", *factors, "repeat", "status", "failure"]
    return in_curves(runs[names].merge(counts, on="run", how="left"), "repeat")


def points(tables: Tables) -> pd.DataFrame:
    """Return one row per point: the table ``points``, and further figures over the repeats.

    Send rate, standard deviation and the figures as in 2016 are means over the whole runs, the
    largest latency is the maximum over them; the ``bottleneck`` is that on which all repeats
    agree.  CPU per message is kept only for test cases whose clients do not wait for messages.
    """
    runs = set(completed(tables["runs"])["run"])
    messages, latency = (
        frame[frame["run"].isin(runs)] for frame in (tables["messages"], tables["latency"])
    )
    rates = ["send_rate_msg_s", "throughput_sd_msg_s", "published_throughput_msg_s"]
    figures = tables["points"]
    if not figures["test_case"].isin(streams()).any():
        figures = figures.drop(columns=list(figures.filter(like="cpu_per_message_s")))
    for added in (
        over_repeats(messages, rates)[["point", *rates]],
        over_repeats(latency, ["published_latency_s"])[["point", "published_latency_s"]],
        by_point(latency)["latency_max_s"].max()[["point", "latency_max_s"]],
        limits.of_points(tables),
    ):
        figures = figures.merge(added, on="point", how="left")
    return in_curves(figures.assign(**uncertainty(latency, figures["point"])))


def uncertainty(latency: pd.DataFrame, points: pd.Series) -> dict[str, pd.Series]:
    """Return the column ``latency_uncertainty_s`` of these points, if it is above 0 at any.

    It is the maximum over the repeats.
    """
    largest = latency.groupby("point")[UNSURE].max()
    return {UNSURE: points.map(largest)} if largest.gt(0).any() else {}


def nodes(cpu: pd.DataFrame) -> pd.DataFrame:
    """Return CPU over the window, tidy: ``point``, threads, ``process``, ``kind``, total and sys.

    Rows are single broker nodes; the sums of all clients, of all servers, and of all background
    loads; and the host; per host if there are several.  Values are means over the repeats.
    """
    window = cpu[(cpu["scope"] == "window") & ~cpu["kind"].isin(["harness", "total"])]
    several_hosts = window[window["kind"] != "broker"].groupby("run")["host"].nunique().gt(1).any()
    plural = {"client": "clients", "server": "servers", "background": "background"}
    named = window.assign(
        process=window["process"].where(
            ~window["kind"].isin(list(plural)), window["kind"].map(plural)
        )
    )
    if several_hosts:
        on_host = named["process"] + " on " + named["host"]
        named = named.assign(process=on_host.where(named["kind"] != "host", named["process"]))
    used = ["total_cores", "sys_cores"]
    stated = [name for name in dict.fromkeys((*FACTORS, *parameters())) if name in cpu.columns]
    selected = named[["point", "threads", *stated, "run", "kind", "process", *used]]
    total = by_point(selected, "run", "kind", "process")[used].sum()
    return over_repeats(total, used, "kind", "process")


def outages(tables: Tables) -> pd.DataFrame:
    """Return one row per action of a run: losses, largest latency, and the run's duplicates."""
    key, phases = ["run", "action", "node", "commanded_s"], tables["action_phases"]
    cost = phases.loc[phases["phase"] == "during", [*key, *COST, "latency_max_s"]]
    joined = tables["outages"].merge(cost, on=key, how="left")
    joined = joined.merge(tables["messages"][["run", "duplicates"]], on="run", how="left")
    return in_curves(with_parameters(joined, tables["runs"]), "repeat", "commanded_s")


def of_runs(tables: Tables, table: str, *order: str) -> pd.DataFrame:
    """Return the rows of a table with the parameters of their run, curve after curve."""
    return in_curves(with_parameters(tables[table], tables["runs"]), "repeat", *order)


def wide(used: pd.DataFrame) -> pd.DataFrame:
    """Pivot the result of ``nodes`` to a row per point, and a column per process and figure.

    Columns are ``threads``, the varying parameters, ``total_cores Master`` and so on: the totals
    of all broker nodes, then their system parts, then the totals of all other processes.  The
    index is the point, curve after curve.
    """
    keys, points = ["threads", *varied(used)], in_curves(used.drop_duplicates("point"))
    brokers = list(used.loc[used["kind"] == "broker", "process"].unique())
    others = list(used.loc[used["kind"] != "broker", "process"].unique())
    figures = ["total_cores", "sys_cores"]
    table = used.pivot_table(index="point", columns="process", values=figures)
    table.columns = [" ".join(names) for names in table.columns]
    order = [
        *(f"total_cores {node}" for node in brokers),
        *(f"sys_cores {node}" for node in brokers),
        *(f"total_cores {other}" for other in others),
    ]
    keyed = points.set_index("point")[keys]
    return keyed.join(table.reindex(columns=order), how="inner")
