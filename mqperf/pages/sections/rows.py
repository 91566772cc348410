"""The rows of sections: whole tables in, what one section shows out."""

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
"""The figures of a point that readers want to see, where they are known."""

LATENCIES = tuple(name for name in POINTS if name.startswith("latency_"))
"""The columns of a table that clocks may make wrong; ``UNSURE`` says by how much."""


def attempts(tables: Tables) -> pd.DataFrame:
    """One row per attempt, the failed ones too: its messages, repeat, status and failure."""
    runs, counts = tables["runs"], tables["messages"][["run", *COUNTS]]
    of_points = dict.fromkeys((*FACTORS, *varied(runs)))
    names = ["run", "point", "threads", *of_points, "repeat", "status", "failure"]
    return in_curves(runs[names].merge(counts, on="run", how="left"), "repeat")


def points(tables: Tables) -> pd.DataFrame:
    """One row per point: its figures over the repeats, and what ``points`` leaves out.

    Send rate, standard deviation and the figures in the manner of 2016 are means over the whole
    runs, the largest latency is the largest of them; the ``bottleneck`` is told
    where all repeats agree.  CPU by the message stands where clients wait for none of theirs.
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
    """The column ``latency_uncertainty_s`` of these points, where clocks make any latency unsure.

    It is the largest of the repeats.
    """
    largest = latency.groupby("point")[UNSURE].max()
    return {UNSURE: points.map(largest)} if largest.gt(0).any() else {}


def nodes(cpu: pd.DataFrame) -> pd.DataFrame:
    """CPU over the window, tidy: ``point``, threads, ``process``, ``kind``, total and sys.

    Broker nodes one by one; all clients together, all servers together, whatever makes load beside
    them together, and the host; each by its host where there are several.  Means over the repeats.
    """
    window = cpu[(cpu["scope"] == "window") & ~cpu["kind"].isin(["harness", "total"])]
    several = window[window["kind"] != "broker"].groupby("run")["host"].nunique().gt(1).any()
    plural = {"client": "clients", "server": "servers", "background": "background"}
    named = window.assign(
        process=window["process"].where(
            ~window["kind"].isin(list(plural)), window["kind"].map(plural)
        )
    )
    if several:
        here = named["process"] + " on " + named["host"]
        named = named.assign(process=here.where(named["kind"] != "host", named["process"]))
    used = ["total_cores", "sys_cores"]
    stated = [name for name in dict.fromkeys((*FACTORS, *parameters())) if name in cpu.columns]
    selected = named[["point", "threads", *stated, "run", "kind", "process", *used]]
    total = by_point(selected, "run", "kind", "process")[used].sum()
    return over_repeats(total, used, "kind", "process")


def outages(tables: Tables) -> pd.DataFrame:
    """One row per action of a run: what it did, cost and delayed, and the run's duplicates."""
    key, phases = ["run", "action", "node", "commanded_s"], tables["action_phases"]
    cost = phases.loc[phases["phase"] == "during", [*key, *COST, "latency_max_s"]]
    joined = tables["outages"].merge(cost, on=key, how="left")
    joined = joined.merge(tables["messages"][["run", "duplicates"]], on="run", how="left")
    return in_curves(with_parameters(joined, tables["runs"]), "repeat", "commanded_s")


def of_runs(tables: Tables, table: str, *order: str) -> pd.DataFrame:
    """The rows of a table with the parameters of their run, curve after curve."""
    return in_curves(with_parameters(tables[table], tables["runs"]), "repeat", *order)


def wide(used: pd.DataFrame) -> pd.DataFrame:
    """The same with a row per point, and a column per process and figure.

    Columns are ``threads``, the parameters that tell points apart, ``total_cores Master`` and so
    on: first the total of every broker node, then its system part, then the totals of everybody
    else.  The index is the point, curve after curve.
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
