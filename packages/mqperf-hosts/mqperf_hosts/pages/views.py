"""What ``notebooks/hosts.ipynb`` calls: hosts, clocks, who talked to whom, CPU, network, memory.

``tables`` are complete.  A folder of one host gives what there is of it.
"""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from IPython.display import Markdown, display

from mqperf.pages.figures import labels
from mqperf.pages.report.hosts import shared
from mqperf.plan.columns import COLUMNS, measured
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import (
    Tables,
    completed,
    over_repeats,
    select,
    shown,
    varied,
    where,
    with_parameters,
)
from mqperf.study.tables.axes import LAYOUT
from mqperf_hosts.pages import sheets

WAY = ["clients", "their node", "node of the servers", "servers"]
RAN = ("broker", "client", "server")
FACTS = (
    *("roles", "cores", "cpu_model", "os", "kernel", "machine"),
    *("network_cards", "clock_source", "clock_synchronised"),
)
CLOCKS = (
    ("clock_offset_before_s", "clock_bound_before_s"),
    ("clock_offset_after_s", "clock_bound_after_s"),
)
TRAFFIC = ("sent_bytes_s", "received_bytes_s", "retransmitted_share")
MEMORY = [column.name for column in measured.MEMORY]


def facts(tables: Tables) -> pd.DataFrame:
    """A row for each host: what ran there and what it is, without facts that no host told.

    Hosts of the same ``machine`` share its processors and its clock, which is said above.
    """
    for sentence in shared(tables["hosts"]):
        display(Markdown(sentence))
    hosts = tables["hosts"].groupby("host", sort=False)[list(FACTS)].agg(_joined)
    ran = _processes(tables).groupby("host")["kind"].agg(_joined).reindex(hosts.index)
    hosts["roles"] = hosts["roles"].where(hosts["roles"].ne(""), ran)
    names = [name for name in FACTS if hosts[name].fillna("").astype(bool).any()]
    return hosts[names].rename(columns={name: COLUMNS[name].label or name for name in names})


def conversations(tables: Tables) -> pd.DataFrame:
    """The ways of the messages, from left to right, each with the hosts that it leads over.

    Without a broker there is no node on the way.
    """
    ways = pd.DataFrame(_ways(tables), columns=[*LAYOUT, *WAY]).drop_duplicates()
    keys = [*LAYOUT, *WAY[1:]]
    joined = ways.groupby(keys, sort=False, as_index=False)[["clients"]].agg(_joined)
    return joined[[*LAYOUT, *WAY]].set_index([*LAYOUT])


def clocks(tables: Tables) -> pd.DataFrame:
    """How far the clock of each host was ahead, ± by how much that may be wrong, of every run."""
    rows = with_parameters(_compared(tables), tables["runs"])
    columns = {COLUMNS[offset].heading(): _bounded(rows, offset, bound) for offset, bound in CLOCKS}
    keys = shown(
        rows, "topology", "queues", "test_case", "threads", *varied(rows), "repeat", "host"
    )
    return keys.assign(**columns).set_index(list(keys))


def show_clocks(tables: Tables) -> None:
    """Draw them; or say why there is nothing to compare."""
    rows = _compared(tables)
    if rows.empty:
        display(Markdown("All ran on one host, or no clock was recorded: nothing to compare."))
        return
    display(sheets.clock_sheet(rows))


def show_cpu(tables: Tables, test_case: str) -> None:
    """Draw the CPU of each host's processes second by second, of a run with the most threads."""
    runs = _busiest(select(tables, test_case=test_case))
    parts = [(title, where(tables["cpu"], run=run, scope="interval")) for title, run in runs]
    if all(cpu["host"].isna().all() for _, cpu in parts):
        display(Markdown("No CPU was recorded second by second."))
        return
    for title, cpu in parts:
        display(Markdown(title), sheets.host_sheet(cpu))


def network(tables: Tables) -> pd.DataFrame:
    """What each interface of each host carried over the window, the mean of the repeats."""
    return _at_points(tables, "network", TRAFFIC, "host", "interface")


def memory(tables: Tables) -> pd.DataFrame:
    """What each host used of its memory, had left and swapped, the mean of the repeats."""
    return _at_points(tables, "memory", MEMORY, "host")


def show_network(tables: Tables) -> None:
    """Draw what each interface sent and received, of a run with the most threads by test case."""
    titles = {name: case.title for name, case in TEST_CASES.items()}
    if tables["network"].empty:
        display(Markdown("No network was recorded."))
    for layout, part in _by_layout(tables, completed(tables["runs"])):
        runs = [run for case in titles for _, run in _busiest(select(part, test_case=case))]
        carried = part["network"][part["network"]["run"].isin(runs)]
        if len(carried):
            threads = ", ".join(map(str, sorted(carried["threads"].unique())))
            title = f"{layout}, {threads} threads"
            display(Markdown(title), sheets.traffic_sheet(carried, titles))


def _at_points(tables: Tables, table: str, figures: Sequence[str], *at: str) -> pd.DataFrame:
    rows = with_parameters(tables[table], tables["runs"])
    used = over_repeats(rows, list(figures), *at)
    keys = ("topology", "queues", "test_case", "threads", *varied(used), *at)
    readable = shown(used, *keys, *figures)
    # a host that only listens carries a thousandth of the others
    return readable.set_index(list(readable)[: len(keys)]).map("{:.3g}".format, na_action="ignore")


def _joined(values: pd.Series) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values.dropna()))


def _compared(tables: Tables) -> pd.DataFrame:
    """The clocks of runs of several hosts, in the order of the runs."""
    rows = tables["hosts"]
    several = rows.groupby("run")["host"].transform("nunique").gt(1)
    return rows[several & rows[[offset for offset, _ in CLOCKS]].notna().any(axis=1)]


def _bounded(rows: pd.DataFrame, *columns: str) -> list[str]:
    """``+0.012 ± 0.058``, in the unit that a person reads; nothing where it was not recorded."""
    read = shown(rows, *columns).itertuples(index=False)
    return [
        "" if pd.isna(value) else f"{round(value, 3) + 0.0:+.3f} ± {bound:.3f}"
        for value, bound in read
    ]


def _processes(tables: Tables) -> pd.DataFrame:
    """``run``, ``process``, ``kind`` and ``host`` of brokers, clients and servers."""
    cpu = tables["cpu"]
    rows = cpu[cpu["kind"].isin(RAN) & cpu["host"].notna()]
    return rows[["run", "process", "kind", "host"]].drop_duplicates()


def _ways(tables: Tables) -> Iterator[tuple[str, ...]]:
    """Of each run and client, as in ``WAY`` behind ``LAYOUT``."""
    ran = _processes(tables)
    columns = ["run", *LAYOUT, "targets"]
    runs = completed(tables["runs"])[columns].fillna({"targets": ""})  # not every load has any
    for run, system, topology, queues, targets in runs.itertuples(index=False):
        of_run = where(ran, run=run)
        nodes, clients, servers = (_places(where(of_run, kind=kind)) for kind in RAN)
        their_nodes = _nodes(topology, queues, [_on(*place) for place in nodes.items()])
        for client, host in clients.items():
            way = _on(client, host), *their_nodes, _servers(client, servers, targets)
            yield system, topology, queues, *way


def _places(processes: pd.DataFrame) -> Mapping[str, str]:
    """The host of each process."""
    return dict(zip(processes["process"], processes["host"], strict=True))


def _on(process: str, host: str) -> str:
    return f"{process} on {host}"


def _nodes(topology: str, queues: str, nodes: Sequence[str]) -> tuple[str, str]:
    """The nodes of clients and of servers; none where there is no queue between them."""
    of, count = labels.topology(topology), 0 if queues == "none" else len(nodes)
    client, server = (nodes[index] if index < count else "" for index in (of.client, of.server))
    return client, server


def _servers(client: str, at: Mapping[str, str], targets: str) -> str:
    """Where the servers are to which this client sends: its own one, or all."""
    number = client.rpartition("-")[-1]
    own_names = [name for name in at if targets == "own" and name.rpartition("-")[-1] == number]
    return ", ".join(_on(name, at[name]) for name in own_names or at)


def _busiest(tables: Tables) -> Iterator[tuple[str, str]]:
    """Of each layout a run with the most threads, in words and by its name."""
    for layout, part in _by_layout(tables, completed(tables["runs"])):
        runs = completed(part["runs"]).sort_values("threads", kind="stable")
        most = runs[runs["threads"] == runs["threads"].max()]
        for row in most.head(1).itertuples():
            yield f"{layout}, {row.threads} threads", str(row.run)


def _by_layout(tables: Tables, rows: pd.DataFrame) -> Iterator[tuple[str, Tables]]:
    """The layouts of these rows, in their order: each in words, and all tables of it alone."""
    for system, topology, queues in rows[list(LAYOUT)].drop_duplicates().itertuples(index=False):
        part = select(tables, system=system, topology=topology, queues=queues)
        yield f"{system}, {topology}, {queues} queues", part
