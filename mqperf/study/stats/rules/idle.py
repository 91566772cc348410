"""Processes that used too little CPU for the messages that they handled."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.topologies import TOPOLOGIES
from mqperf.study.stats.rules.cpu import over_the_window
from mqperf.study.stats.rules.finding import Finding, beside_threads, each, measured, offered
from mqperf.study.tables import Tables, once

LEAST_SHARE = 0.05
"""Less than this share of the CPU per message of other runs contradicts the messages: of 387
processes in recorded runs the lowest share of the median was 0.28."""

JUDGED_S = 0.1
"""Expected seconds of CPU below which a process is not judged: the kernel counts hundredths."""

FEWEST_RUNS = 2
"""The fewest runs that give the usual CPU per message, including the judged one."""

OF_KIND = ("system", "topology", "queues", "test_case", "generator")
RUN_COLUMNS = ("run", *OF_KIND, "window_s", "sent", "received")

TESTERS = {"client": "sent", "server": "received"}
"""Kinds of load generators -> the column that counts the messages they handle."""


def cpu_too_low(tables: Tables) -> Iterator[Finding]:
    """Processes that used a twentieth of what their messages cost in other runs, or less.

    Nodes that an action of the plan ended or held up are not judged.
    """
    used = _per_message(tables)
    for row in each(used[used["expected_s"].ge(JUDGED_S) & used["used_s"].lt(used["least_s"])]):
        yield Finding(
            row.run,
            f"{row.process} used {row.used_s:.2f} s of CPU for {row.handled:.0f} messages; by other"
            f" runs about {row.expected_s:.1f} s are expected: its record is not of this run",
            {
                "process": row.process,
                "cpu_s": round(float(row.used_s), 3),
                "expected_cpu_s": round(float(row.expected_s), 2),
            },
        )


@once
def _per_message(tables: Tables) -> pd.DataFrame:
    """CPU over the window of each process that must handle messages, and the expected CPU.

    A row per run and process.  ``expected_s`` is from the median per message of runs with the same
    kind of queue: of load generators of the same test case, or nodes of the same name and topology;
    with the same offered rate, as high rates send many messages at once, and the same value of
    all other varied parameters, such as the payload.  Only nodes to which clients or servers
    connect are judged: others may be idle.
    """
    window = over_the_window(tables)
    window = window[window["kind"].isin(["broker", *TESTERS]) & window["total_cores"].notna()]
    runs = measured(tables)
    varying = beside_threads(runs)
    runs = runs[[*dict.fromkeys((*RUN_COLUMNS, *varying))]].assign(rate=offered(runs))
    frame = window[["run", "process", "kind", "total_cores"]].merge(runs, on="run")
    frame = frame[frame["window_s"].notna() & (frame["kind"].isin(list(TESTERS)) | _is_used(frame))]
    acted_on = frame["kind"].eq("broker") & frame["run"].isin(tables["outages"]["run"])
    frame = frame[~acted_on]
    several = frame.groupby(["run", "kind"])["process"].transform("size")
    broker = frame["kind"].eq("broker")
    messages = frame["received"].where(frame["kind"].eq("server"), frame["sent"]).astype(float)
    frame = frame.assign(
        handled=messages / several.where(~broker, 1),
        used_s=frame["total_cores"] * frame["window_s"],
    )
    frame = frame[frame["handled"].gt(0)]
    broker = frame["kind"].eq("broker")
    key_columns = [
        frame["generator"].where(~broker, frame["system"]),
        frame["test_case"].where(~broker, frame["topology"]),
        frame["process"].where(broker, frame["kind"]),
        *(frame[name] for name in ("rate", "queues", *varying)),
    ]
    keys = [column.astype("object").fillna("") for column in key_columns]
    per_message = (frame["used_s"] / frame["handled"]).astype(float).groupby(keys)
    enough = per_message.transform("size") >= FEWEST_RUNS
    expected = (per_message.transform("median") * frame["handled"]).where(enough)
    compared = frame.assign(expected_s=expected, least_s=expected * LEAST_SHARE)
    return compared.astype({"used_s": float, "expected_s": float, "least_s": float})


def _is_used(frame: pd.DataFrame) -> pd.Series:
    """Whether a row is a node to which clients or servers connect; nodes are in their order."""
    order = frame[frame["kind"].eq("broker")].groupby("run").cumcount()
    connected = {
        name: (TOPOLOGIES[name].client, TOPOLOGIES[name].server)
        for name in frame["topology"].dropna().unique()
        if name in TOPOLOGIES and not TOPOLOGIES[name].any_node
    }
    return pd.Series(
        [
            position in connected.get(name, ())
            for position, name in zip(order.reindex(frame.index), frame["topology"], strict=True)
        ],
        frame.index,
    )
