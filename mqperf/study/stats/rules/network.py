"""Bytes on networks: enough for the bodies of messages, and as many received as sent."""

from collections.abc import Iterator

import pandas as pd

from mqperf.onhost.machine.network import LOOPBACK
from mqperf.plan.test_cases import with_servers
from mqperf.study.stats.rules.finding import Finding, Row, each, measured, parameter
from mqperf.study.tables import Tables

SENT, RECEIVED = 0.9, 0.5
"""Least shares of the bodies in network counters: sent bytes may wait in buffers at the ends of the
window, and received bytes may have waited at the server before they were counted."""

UNBALANCED, LEAST_BYTES_S = 0.05, 20_000.0
"""Share, plus bytes a second, by which what hosts of one machine sent and received may differ, as
the controller talks to them, too."""


def network_bytes(tables: Tables) -> Iterator[Finding]:
    """Networks that carried less than the messages hold, or lost what was sent on them."""
    carried, hosts = (dict([*tables[name].groupby("run")]) for name in ("network", "hosts"))
    nodes = tables["cpu"].loc[tables["cpu"]["kind"].eq("broker"), ["run", "host"]]
    with_node = nodes.drop_duplicates().merge(tables["network"][["run", "host"]])["run"]
    frame = measured(tables)
    frame = frame.assign(
        payload=_least_payload(frame),
        send_rate_msg_s=frame["send_rate_msg_s"].astype("float64"),
        linked=frame["run"].isin(tables["links"]["run"]),
        watched=frame["run"].isin(with_node),
    )
    for row in each(frame[frame["run"].isin(carried)]):
        interfaces, run_hosts = carried[row.run], hosts.get(row.run, ())
        if len(run_hosts) > 1:
            problems = [*_between(row, run_hosts, interfaces), *_closed(row, run_hosts, interfaces)]
        else:
            problems = [*_over_loopback(row, interfaces)] if row.watched else []
        if problems:
            yield Finding(row.run, "; ".join(problems))


def _least_payload(frame: pd.DataFrame) -> pd.Series:
    """The length of the shortest body; NaN where the plan does not set it."""
    length, spread = (parameter(frame, name) for name in ("payload_bytes", "payload_spread"))
    return length * (1 - spread.fillna(0.0))


def _over_loopback(row: Row, carried: pd.DataFrame) -> Iterator[str]:
    """On one host with its brokers, every message crosses loopback at least once."""
    bytes_s = carried.loc[carried["interface"].eq(LOOPBACK), "sent_bytes_s"].sum()
    yield from _missing(LOOPBACK, bytes_s, row.send_rate_msg_s, SENT, row)


def _between(row: Row, hosts: pd.DataFrame, carried: pd.DataFrame) -> Iterator[str]:
    """Every message leaves hosts of clients, and reaches hosts of servers where these are apart."""
    outside = carried[~carried["interface"].eq(LOOPBACK)]
    parts = [("client", "sent", row.send_rate_msg_s, SENT)]
    if row.test_case in with_servers():
        parts.append(("server", "received", row.throughput_msg_s, RECEIVED))
    for role, direction, rate, share in parts:
        with_role = hosts[hosts["roles"].str.contains(role, na=False)]
        names = with_role["host"]
        if len(names) and with_role["roles"].eq(role).all() and names.isin(outside["host"]).all():
            bytes_s = outside.loc[outside["host"].isin(names), f"{direction}_bytes_s"].sum()
            yield from _missing(f"the network of {', '.join(names)}", bytes_s, rate, share, row)


def _missing(network: str, bytes_s: float, rate: float, share: float, row: Row) -> Iterator[str]:
    if bytes_s < share * rate * row.payload:
        yield (
            f"{network} carried {bytes_s:.0f} bytes/s, although {rate:.0f} messages a second of"
            f" {row.payload:.0f} bytes crossed it"
        )


def _closed(row: Row, hosts: pd.DataFrame, carried: pd.DataFrame) -> Iterator[str]:
    """Hosts of one machine talk only to each other: what one sends, another receives."""
    one_machine = len(hosts["machine"].unique()) == 1 and hosts["machine"].notna().all()
    if row.linked or not one_machine or not hosts["host"].isin(carried["host"]).all():
        return
    sent, received = carried["sent_bytes_s"].sum(), carried["received_bytes_s"].sum()
    if abs(sent - received) > UNBALANCED * max(sent, received) + LEAST_BYTES_S:
        yield (
            f"its hosts sent {sent:.0f} bytes/s, and received {received:.0f}, though all are of one"
            " machine: other hosts talk to them, or a counter is not of this run"
        )
