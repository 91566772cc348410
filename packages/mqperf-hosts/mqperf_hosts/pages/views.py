"""The views of ``notebooks/hosts.ipynb``: hosts, clocks, routes of messages, CPU, network, memory.

``tables`` are complete.  A folder with runs on one host shows what is known of it.
"""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from IPython.display import Markdown, display

from mqperf.pages.figures import labels
from mqperf.pages.report.hosts import shared
from mqperf.pages.sections.forms import scaled
from mqperf.plan.columns import COLUMNS, measured
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import (
    Tables,
    completed,
    over_repeats,
    select,
    varied,
    where,
    with_parameters,
)
from mqperf.study.tables.axes import LAYOUT
from mqperf_hosts.pages import sheets

ROUTE = ["clients", "their node", "node of the servers", "servers"]
KINDS = ("broker", "client", "server")
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
    """Return a row for each host: what ran there and what it is, without facts unknown for all.

    Hosts of the same ``machine`` share its processors and clock, which is displayed above.
    """
    for sentence in shared(tables["hosts"]):
        display(Markdown(sentence))
    hosts = tables["hosts"].groupby("host", sort=False)[list(FACTS)].agg(_joined)
    ran = _processes(tables).groupby("host")["kind"].agg(_joined).reindex(hosts.index)
    hosts["roles"] = hosts["roles"].where(hosts["roles"].ne(""), ran)
    names = [name for name in FACTS if hosts[name].fillna("").astype(bool).any()]
    return hosts[names].rename(columns={name: COLUMNS[name].label or name for name in names})


def conversations(tables: Tables) -> pd.DataFrame:
    """Return the routes of messages, from left to right, with the hosts on each.

    Without a broker there is no node on the route.
    """
    routes = pd.DataFrame(_routes(tables), columns=[*LAYOUT, *ROUTE]).drop_duplicates()
    keys = [*LAYOUT, *ROUTE[1:]]
    joined = routes.groupby(keys, sort=False, as_index=False)[["clients"]].agg(_joined)
    return joined[[*LAYOUT, *ROUTE]].set_index([*LAYOUT])


def clocks(tables: Tables) -> pd.DataFrame:
    """Return, for every run, how far the clock of each host was ahead, ± the error bound."""
    rows = with_parameters(_compared(tables), tables["runs"])
    columns = {COLUMNS[offset].heading(): _bounded(rows, offset, bound) for offset, bound in CLOCKS}
    keys = _shown(
        rows, "topology", "queues", "test_case", "threads", *varied(rows), "repeat", "host"
    )
    return keys.assign(**columns).set_index(list(keys))


def show_clocks(tables: Tables) -> None:
    """Display the clocks, or why there is nothing to compare."""
    rows = _compared(tables)
    if rows.empty:
        display(Markdown("All ran on one host, or no clock was recorded: nothing to compare."))
        return
    display(sheets.clock_sheet(rows))


def show_cpu(tables: Tables, test_case: str) -> None:
    """Display the CPU of hosts' processes by second, for runs with the most threads."""
    runs = _busiest(select(tables, test_case=test_case))
    titled = [(title, where(tables["cpu"], run=run, scope="interval")) for title, run in runs]
    if all(cpu["host"].isna().all() for _, cpu in titled):
        display(Markdown("No CPU was recorded second by second."))
        return
    for title, cpu in titled:
        display(Markdown(title), sheets.host_sheet(cpu))


def network(tables: Tables) -> pd.DataFrame:
    """Return the traffic of each interface over the window, the mean of the repeats."""
    return _at_points(tables, "network", TRAFFIC, "host", "interface")


def memory(tables: Tables) -> pd.DataFrame:
    """Return the memory that each host used, had free and swapped, the mean of the repeats."""
    return _at_points(tables, "memory", MEMORY, "host")


def show_network(tables: Tables) -> None:
    """Display the traffic of interfaces, for a run with the most threads of each test case."""
    titles = {name: case.title for name, case in TEST_CASES.items()}
    if tables["network"].empty:
        display(Markdown("No network was recorded."))
    for layout, of_layout in _by_layout(tables, completed(tables["runs"])):
        runs = [run for case in titles for _, run in _busiest(select(of_layout, test_case=case))]
        rows = of_layout["network"][of_layout["network"]["run"].isin(runs)]
        if len(rows):
            threads = ", ".join(map(str, sorted(rows["threads"].unique())))
            title = f"{layout}, {threads} threads"
            display(Markdown(title), sheets.traffic_sheet(rows, titles))


def _at_points(tables: Tables, table: str, figures: Sequence[str], *at: str) -> pd.DataFrame:
    rows = with_parameters(tables[table], tables["runs"])
    means = over_repeats(rows, list(figures), *at)
    keys = ("topology", "queues", "test_case", "threads", *varied(means), *at)
    readable = _shown(means, *keys, *figures)
    # significant digits: a host that only listens has a thousandth of the others' traffic
    return readable.set_index(list(readable)[: len(keys)]).map("{:.3g}".format, na_action="ignore")


def _shown(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return these columns in their display unit, with the headings of reports."""
    return pd.DataFrame({COLUMNS[name].heading(): scaled(rows, name) for name in columns})


def _joined(values: pd.Series) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values.dropna()))


def _compared(tables: Tables) -> pd.DataFrame:
    """Return the clocks of runs on several hosts, in the order of the runs."""
    rows = tables["hosts"]
    several = rows.groupby("run")["host"].transform("nunique").gt(1)
    return rows[several & rows[[offset for offset, _ in CLOCKS]].notna().any(axis=1)]


def _bounded(rows: pd.DataFrame, *columns: str) -> list[str]:
    """Return texts such as ``+0.012 ± 0.058``, in the displayed unit; empty if not recorded."""
    return [
        "" if pd.isna(value) else f"{round(value, 3) + 0.0:+.3f} ± {bound:.3f}"
        for value, bound in _shown(rows, *columns).itertuples(index=False)
    ]


def _processes(tables: Tables) -> pd.DataFrame:
    """Return ``run``, ``process``, ``kind`` and ``host`` of brokers, clients and servers."""
    cpu = tables["cpu"]
    rows = cpu[cpu["kind"].isin(KINDS) & cpu["host"].notna()]
    return rows[["run", "process", "kind", "host"]].drop_duplicates()


def _routes(tables: Tables) -> Iterator[tuple[str, ...]]:
    """Yield the columns ``LAYOUT`` and ``ROUTE`` of each run and client."""
    processes = _processes(tables)
    columns = ["run", *LAYOUT, "targets"]
    runs = completed(tables["runs"])[columns].fillna({"targets": ""})  # not every load has any
    for run, system, topology, queues, targets in runs.itertuples(index=False):
        of_run = where(processes, run=run)
        nodes, clients, servers = (_hosts(where(of_run, kind=kind)) for kind in KINDS)
        both_nodes = _nodes(topology, queues, [_on(*entry) for entry in nodes.items()])
        for client, host in clients.items():
            route = _on(client, host), *both_nodes, _servers(client, servers, targets)
            yield system, topology, queues, *route


def _hosts(processes: pd.DataFrame) -> Mapping[str, str]:
    """Return the host of each process."""
    return dict(zip(processes["process"], processes["host"], strict=True))


def _on(process: str, host: str) -> str:
    return f"{process} on {host}"


def _nodes(topology: str, queues: str, nodes: Sequence[str]) -> tuple[str, str]:
    """Return the nodes of clients and of servers; empty where there is no queue between them."""
    ends, count = labels.topology(topology), 0 if queues == "none" else len(nodes)
    client, server = (nodes[index] if index < count else "" for index in (ends.client, ends.server))
    return client, server


def _servers(client: str, hosts: Mapping[str, str], targets: str) -> str:
    """Return the servers, with their hosts, to which a client sends: its own one, or all."""
    number = client.rpartition("-")[-1]
    own_names = [name for name in hosts if targets == "own" and name.rpartition("-")[-1] == number]
    return ", ".join(_on(name, hosts[name]) for name in own_names or hosts)


def _busiest(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield, for each layout, a title and the name of a run with the most threads."""
    for layout, of_layout in _by_layout(tables, completed(tables["runs"])):
        runs = completed(of_layout["runs"]).sort_values("threads", kind="stable")
        most = runs[runs["threads"] == runs["threads"].max()]
        for row in most.head(1).itertuples():
            yield f"{layout}, {row.threads} threads", str(row.run)


def _by_layout(tables: Tables, rows: pd.DataFrame) -> Iterator[tuple[str, Tables]]:
    """Yield the layouts of these rows, in their order: a title, and the tables of this layout."""
    for system, topology, queues in rows[list(LAYOUT)].drop_duplicates().itertuples(index=False):
        of_layout = select(tables, system=system, topology=topology, queues=queues)
        yield f"{system}, {topology}, {queues} queues", of_layout
