"""Section on the CPU of every node at every point."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.report import drawings
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.study.tables import in_curves, over_repeats, tidy, varied, with_parameters
from mqperf.study.tables.axes import FACTORS, by_point


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row per point, and a column per process and figure: ``_wide``."""
    if not (view.tables["cpu"]["kind"] == "broker").any():
        return
    system = view.layout.system_title
    caption = f"{system} nodes CPU consumption during {view.case.title} load test"
    cpu = with_parameters(view.tables["cpu"], view.tables["runs"])
    used = _used(cpu)
    wide = _wide(used)
    has_others = (used["kind"] != "broker").any()
    yield Content(
        heading=f"Detailed {system} CPU consumption",
        words=[
            "CPU of each node over the measured window: total, and its system part.",
            *(["Load generator and host are shown beside them."] if has_others else []),
        ],
        caption=caption,
        rows=wide.reset_index(),
        columns={name: _heading(name) for name in wide.columns},
        key="point",
        drawing=drawings.nodes(caption, cpu),
        data=tidy(used),
    )


def _used(cpu: pd.DataFrame) -> pd.DataFrame:
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


def _wide(used: pd.DataFrame) -> pd.DataFrame:
    """Pivot the result of ``_used`` to a row per point, and a column per process and figure.

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


def _heading(name: str) -> str:
    column, _, process = name.partition(" ")
    return COLUMNS[column].heading(process)


SECTION = Section("nodes", content)
