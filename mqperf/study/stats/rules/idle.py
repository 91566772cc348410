"""CPU that is too little for the messages that a process handled."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.topologies import TOPOLOGIES
from mqperf.study.stats.rules.cpu import over_the_window
from mqperf.study.stats.rules.finding import Finding, beside_threads, each, measured, offered
from mqperf.study.tables import Tables

OTHERS = 0.05
"""Less than this share of what other runs used for a message contradicts the messages: of 387
processes in recorded runs the least used 0.28 of the median."""

TOLD_S = 0.1
"""Seconds of CPU that are to be expected at least: the kernel counts hundredths."""

FEWEST = 2
"""Runs that tell what a message costs, this one among them."""

OF_KIND = ("system", "topology", "queues", "test_case", "generator")
KEPT = ("run", *OF_KIND, "window_s", "sent", "received")

LOAD = {"client": "sent", "server": "received"}
"""Kinds of load generators, and the messages that they handle."""


def cpu_too_low(tables: Tables) -> Iterator[Finding]:
    """Processes that used a twentieth of what their messages cost in other runs, or less.

    Nodes that an action of the plan ended or held up are not judged.
    """
    used = _per_message(tables)
    for row in each(used[used["expected_s"].ge(TOLD_S) & used["used_s"].lt(used["least_s"])]):
        yield Finding(
            row.run,
            f"{row.process} used {row.used_s:.2f} s of CPU for {row.handled:.0f} messages; as in"
            f" other runs it would be about {row.expected_s:.1f} s: its record is not of this run",
            {
                "process": row.process,
                "cpu_s": round(float(row.used_s), 3),
                "expected_cpu_s": round(float(row.expected_s), 2),
            },
        )


def _per_message(tables: Tables) -> pd.DataFrame:
    """CPU over the window of each process that must handle messages, beside what is to be expected.

    A row per run and process; ``expected_s`` is by the median of the runs of its kind of queue:
    load generators of the same test case, nodes of the same name in the same topology; both at the
    same offered rate, as many messages are sent at once where that is high, and with the same value
    of whatever else the plan varies, such as the payload.  Of the nodes those are taken which
    clients or servers connect to: others may be idle.
    """
    window = over_the_window(tables)
    window = window[window["kind"].isin(["broker", *LOAD]) & window["total_cores"].notna()]
    runs = measured(tables)
    swept = beside_threads(runs)
    runs = runs[[*dict.fromkeys((*KEPT, *swept))]].assign(rate=offered(runs))
    frame = window[["run", "process", "kind", "total_cores"]].merge(runs, on="run")
    frame = frame[frame["window_s"].notna() & (frame["kind"].isin(list(LOAD)) | _connected(frame))]
    disturbed = frame["kind"].eq("broker") & frame["run"].isin(tables["outages"]["run"])
    frame = frame[~disturbed]
    several = frame.groupby(["run", "kind"])["process"].transform("size")
    broker = frame["kind"].eq("broker")
    messages = frame["received"].where(frame["kind"].eq("server"), frame["sent"]).astype(float)
    frame = frame.assign(
        handled=messages / several.where(~broker, 1),
        used_s=frame["total_cores"] * frame["window_s"],
    )
    frame = frame[frame["handled"].gt(0)]
    broker = frame["kind"].eq("broker")
    of_kind = [
        frame["generator"].where(~broker, frame["system"]),
        frame["test_case"].where(~broker, frame["topology"]),
        frame["process"].where(broker, frame["kind"]),
        *(frame[name] for name in ("rate", "queues", *swept)),
    ]
    keys = [column.astype("object").fillna("") for column in of_kind]
    groups = (frame["used_s"] / frame["handled"]).astype(float).groupby(keys)
    enough = groups.transform("size") >= FEWEST
    expected = (groups.transform("median") * frame["handled"]).where(enough)
    compared = frame.assign(expected_s=expected, least_s=expected * OTHERS)
    return compared.astype({"used_s": float, "expected_s": float, "least_s": float})


def _connected(frame: pd.DataFrame) -> pd.Series:
    """Whether clients or servers connect to a node, and to no other; nodes are in their order."""
    place = frame[frame["kind"].eq("broker")].groupby("run").cumcount()
    ends = {
        name: (TOPOLOGIES[name].client, TOPOLOGIES[name].server)
        for name in frame["topology"].dropna().unique()
        if name in TOPOLOGIES and not TOPOLOGIES[name].any_node
    }
    return pd.Series(
        [
            position in ends.get(name, ())
            for position, name in zip(place.reindex(frame.index), frame["topology"], strict=True)
        ],
        frame.index,
    )
