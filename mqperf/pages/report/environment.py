"""The environment of the runs, in the three tables of the OpenStack test plan."""

from collections.abc import Callable

import pandas as pd

from mqperf.base.releases import released
from mqperf.pages.figures import labels
from mqperf.pages.report.rst import Grid
from mqperf.study.tables.axis_words import texts, titled

NOT_RECORDED = "not recorded"

ReadValues = Callable[[pd.DataFrame], list[str]]


def environment(runs: pd.DataFrame, cpu: pd.DataFrame) -> dict[str, Grid]:
    """Return the tables Hardware, Network and Software, with every distinct value in order."""
    speeds = cpu["core_speed"].dropna()
    speed = f"{speeds.median():.0f} ({speeds.min():.0f} to {speeds.max():.0f})"
    return {
        "Hardware": _table(
            runs,
            {
                titled("cpu_model"): _values("cpu_model"),
                titled("cores"): _values("cores"),
                titled("memory_bytes"): _memory,
                titled("hosts"): _values("hosts"),
                **({titled("core_speed"): lambda _: [speed]} if len(speeds) else {}),
            },
        ),
        "Network": _table(
            runs,
            {
                titled("network_card"): _values("network_card"),
                titled("network_driver"): _of_card("network_driver"),
                titled("network_speed"): _of_card("network_speed"),
                f"largest {titled('clock_offset_s')}": _offset,
            },
        ),
        "Software": _table(
            runs,
            {
                titled("os"): _values("os"),
                titled("kernel"): _values("kernel"),
                titled("generator_version"): _values("generator_version"),
                titled("python_version"): _values("python_version"),
                "MQ Server": _server,
                titled("runtime_version"): _values("runtime_version"),
                "HA mode": _queues,
                titled("mqperf_version"): _values("mqperf_version"),
            },
        ),
    }


def _table(runs: pd.DataFrame, parameters: dict[str, ReadValues]) -> Grid:
    rows = [(name, "; ".join(read(runs)) or NOT_RECORDED) for name, read in parameters.items()]
    return Grid("", ("Parameter", "Value"), tuple(rows), style="")


def _values(column: str) -> ReadValues:
    return lambda runs: texts(runs[column])


def _of_card(column: str) -> ReadValues:
    """Return a function that reads a fact of the network card, which loopback does not have."""

    def values(runs: pd.DataFrame) -> list[str]:
        all_loopback = set(runs["network_card"].dropna()) == {"loopback"}
        return texts(runs[column]) or (["none: loopback"] if all_loopback else [])

    return values


def _memory(runs: pd.DataFrame) -> list[str]:
    return [f"{size / 2**30:.1f} GiB" for size in runs["memory_bytes"].dropna().unique()]


def _offset(runs: pd.DataFrame) -> list[str]:
    offset = runs["clock_offset_s"].max()
    return [] if pd.isna(offset) else [f"{offset * 1e3:.3f} ms"]


def _server(runs: pd.DataFrame) -> list[str]:
    rows = runs[["system_title", "system_version"]].dropna(how="all").drop_duplicates().fillna("")
    return [released(title, version) for title, version in rows.itertuples(index=False)]


def _queues(runs: pd.DataFrame) -> list[str]:
    kinds = runs["queues"].dropna().unique()
    return [labels.queues(kind).sentence.rstrip(".") for kind in kinds]
