"""The runs of a folder as points of capacity models: rates, and the CPU that each role used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from mqperf.plan.columns import parameters
from mqperf.study.stats.doubt_kinds import WRONG, weight_of
from mqperf.study.stats.rules.cpu import over_the_window
from mqperf.study.stats.rules.finding import measured
from mqperf.study.stats.rules.tester import by_machine, on_several_cores
from mqperf.study.tables import Tables
from mqperf.study.tables.axes import SWEEP
from mqperf_capacity.plan.quotas import Quotas

PAYLOAD = "payload_bytes"
RATES = ("rate_msg_s", "thread_rate_msg_s")
"""Parameters of a load that set its rate."""

SCALES = (*Quotas.model_fields, *RATES, PAYLOAD, "processes", "hosts")
"""Parameters that may differ within one model: rate, size, quotas, number of generators."""

FIGURE_NAMES = {
    "throughput_msg_s": "rate",
    "send_rate_msg_s": "sending",
    "offered_rate_msg_s": "offered",
}
"""Columns of ``measured`` -> their names in the runs of a model."""

TIMES = ("asked_s", "warmup_s", "cooldown_s", "timeout_s", "message_count")

HOST, CLIENTS, SERVERS = "host", "clients", "servers"
NOT_NODES = {CLIENTS, SERVERS, HOST}

PROCESS_CORES = 1.0
"""Cores that a load generator process can use if it computes on one core at a time, as the doubt
``tester-saturated`` assumes."""


@dataclass(frozen=True, slots=True)
class Model:
    """All runs whose messages should cost the same: those of a layout and the other parameters.

    ``runs`` has a row for each measured run: ``rate`` in finished messages a second, ``offered``,
    ``sending``, ``body_bytes``, latencies, and ``wrong``: the kinds of doubts that its records
    contradict its numbers.  ``used`` has a row for each role of each run: ``role``, the ``cores``
    and ``sys`` that it used, and the ``capacity`` that it could have used at most.  ``network`` has
    bytes a second of each run; ``link`` those over a link with a bandwidth, in the direction that
    carries more.  ``words`` are the values of the other parameters.
    """

    keys: dict[str, str]
    words: str
    runs: pd.DataFrame
    used: pd.DataFrame
    network: pd.DataFrame
    link: pd.DataFrame
    cores: float

    @property
    def roles(self) -> list[str]:
        """The nodes, the clients, the servers; and the host, if all of them are on one."""
        return [*dict.fromkeys(self.used["role"])]

    @property
    def doubted(self) -> str:
        """The kinds of doubts that records of its runs contradict their numbers."""
        return ", ".join(
            dict.fromkeys(kind for kinds in self.runs["wrong"].dropna() for kind in kinds)
        )

    def utilisation(self) -> pd.Series:
        """Run -> share of its capacity that the fullest role used."""
        return (self.used["cores"] / self.used["capacity"]).groupby(self.used["run"]).max()


def models(tables: Tables) -> Iterator[Model]:
    """A model for each layout and test case, and each combination of other varied parameters."""
    runs = _runs(tables)
    if runs.empty:
        return
    used, network = _used(tables, runs), _network(tables)
    others = [
        name
        for name in parameters()
        if name in runs.columns and name not in {*SCALES, *TIMES} and len(runs[name].unique()) > 1
    ]
    keys = runs[[*SWEEP, *others]].astype("string").fillna("-")
    for values, rows in runs.groupby([keys[name] for name in keys], sort=False):
        words = dict(zip((*SWEEP, *others), values, strict=True))
        run_names = rows["run"]
        yield Model(
            {name: str(words[name]) for name in SWEEP},
            ", ".join(f"{name} {words[name]}" for name in others if words[name] != "-"),
            rows.reset_index(drop=True),
            used[used["run"].isin(run_names)].reset_index(drop=True),
            network[network["run"].isin(run_names)].reset_index(drop=True),
            _link(tables, rows),
            float(rows["cores"].dropna().max()) if rows["cores"].notna().any() else float("nan"),
        )


def _runs(tables: Tables) -> pd.DataFrame:
    """Whole runs with throughput, without actions or background loads, as ``Model.runs``."""
    runs = measured(tables)
    excluded = {*tables["outages"]["run"], *tables["background"]["run"]}
    runs = runs[~runs["run"].isin(excluded) & runs["throughput_msg_s"].gt(0)]
    latency = tables["latency"][["run", "latency_p50_s", "confirm_p50_s"]].drop_duplicates("run")
    rows = runs.rename(columns=FIGURE_NAMES).merge(latency, on="run", how="left")
    payload = rows[PAYLOAD] if PAYLOAD in rows.columns else pd.Series(float("nan"), rows.index)
    host_cpu = tables["cpu"].loc[lambda cpu: cpu["scope"].eq("window") & cpu["kind"].eq("host")]
    machine_share = (host_cpu["total_cores"] / host_cpu["cores"]).groupby(host_cpu["run"]).max()
    doubts = tables["doubts"]
    wrong = doubts[doubts["kind"].map(weight_of).eq(WRONG)].groupby("run")["kind"].agg(tuple)
    return rows.assign(
        body_bytes=payload.astype("float64"),
        machine_share=rows["run"].map(machine_share),
        wrong=rows["run"].map(wrong),
    )


def _used(tables: Tables, runs: pd.DataFrame) -> pd.DataFrame:
    """The CPU that each role of each run used, and its capacity."""
    window = over_the_window(tables)
    window = window[window["run"].isin(runs["run"]) & window["total_cores"].notna()]
    nodes = window[window["kind"] == "broker"].assign(role=lambda rows: rows["process"])
    parts = [nodes.assign(capacity=_quota(nodes, runs, "broker").fillna(nodes["cores"]))]
    for kind, role in (("client", CLIENTS), ("server", SERVERS)):
        rows = window[window["kind"] == kind]
        limit = pd.Series(PROCESS_CORES, rows.index).mask(rows["run"].isin(on_several_cores(runs)))
        processes = rows.groupby(["run", "host"])["run"].transform("size")
        quota = _quota(rows, runs, kind) / processes
        capacity = pd.concat([limit, quota, rows["cores"] / processes], axis=1).min(axis=1)
        parts.append(rows.assign(role=role, capacity=capacity))
    host_count = by_machine(window, tables["hosts"]).groupby("run")["host"].nunique()
    own = window[~window["kind"].isin(["host", "total"]) & window["run"].map(host_count).eq(1)]
    parts.append(own.assign(role=HOST, capacity=0.0))
    rows = pd.concat(parts, ignore_index=True)
    sums = (
        rows.groupby(["run", "role"], sort=False)
        .agg(cores=("total_cores", "sum"), sys=("sys_cores", "sum"), capacity=("capacity", "sum"))
        .reset_index()
    )
    cores = sums["run"].map(runs.set_index("run")["cores"].astype("float64"))
    return sums.assign(capacity=sums["capacity"].mask(sums["role"] == HOST, cores))


def _quota(rows: pd.DataFrame, runs: pd.DataFrame, kind: str) -> pd.Series:
    """The quota of the role in the run of each row, empty where it has none."""
    name = f"{kind}_cores"
    if name not in runs.columns:
        return pd.Series(float("nan"), rows.index, dtype="float64")
    return rows["run"].map(runs.set_index("run")[name].astype("float64"))


def _network(tables: Tables) -> pd.DataFrame:
    """Bytes a second over the network of each run: loopback where all is on one host."""
    traffic = tables["network"]
    hosts = traffic.groupby("run")["host"].transform("nunique")
    loopback = traffic["interface"].eq("lo")
    rows = traffic[loopback.eq(hosts.eq(1))]
    return rows.groupby("run")["sent_bytes_s"].sum().rename("bytes_s").reset_index()


def _link(tables: Tables, runs: pd.DataFrame) -> pd.DataFrame:
    """``run``, ``rate``, ``bandwidth_bits_s`` and ``link_bytes_s`` of runs over a limited link.

    Clients and servers talk only to brokers, so all traffic of their hosts goes over the link.
    """
    links = tables["links"][["run", "between", "bandwidth_bits_s"]].dropna()
    links = links.merge(runs[["run", "rate"]], on="run")
    ends = links["between"].str.split(", ").map(lambda two: next(e for e in two if e != "broker"))
    hosts = tables["hosts"][["run", "host", "roles"]]
    rows = (
        links.assign(end=ends).merge(hosts, on="run").merge(tables["network"], on=["run", "host"])
    )
    at_end = [
        end in str(roles).split(", ") for end, roles in zip(rows["end"], rows["roles"], strict=True)
    ]
    rows = rows[pd.Series(at_end, rows.index, dtype=bool) & rows["interface"].ne("lo")]
    traffic = rows.groupby("run")[["sent_bytes_s", "received_bytes_s"]].sum()
    sums = traffic.max(axis=1).rename("link_bytes_s")
    return links.drop(columns="between").merge(sums, left_on="run", right_index=True)


def at_most(model: Model, share: float) -> Sequence[str]:
    """The runs in which no role used more than this share of its capacity."""
    load = model.utilisation()
    return list(load.index[load.le(share)])
