"""Predictions assume that CPU is the limit; every other limit is reported."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import samples

from mqperf.study.tables import Tables, conform
from mqperf_capacity.pages import words
from mqperf_capacity.study import assumptions, demands, points
from mqperf_capacity.study.predictions import Asked, predictions

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/capacity"


@pytest.fixture
def tables() -> Tables:
    return samples.complete(SAMPLE)


def idle(tables: Tables) -> Tables:
    """The same tables on a machine that nobody else used."""
    cpu = tables["cpu"].copy()
    whole = cpu["kind"].eq("host")
    own = cpu[~whole & cpu["scope"].eq("window")].groupby("run")["total_cores"].sum()
    cpu.loc[whole, "total_cores"] = cpu.loc[whole, "run"].map(own)
    return {**tables, "cpu": cpu}


def planted(tables: Tables, figures: dict[str, float], settings: dict[str, int | str]) -> Tables:
    """The tables with these figures of messages and latency in the fastest run, and settings."""
    runs = conform("runs", tables["runs"].assign(**settings))
    run = tables["messages"].sort_values("send_rate_msg_s")["run"].iloc[-1]
    replaced = {}
    for name in ("messages", "latency"):
        frame = tables[name].copy()
        for column, value in figures.items():
            if column in frame.columns:
                frame.loc[frame["run"].eq(run), column] = value
        replaced[name] = frame
    changed = {name: frame for name, frame in tables.items() if name != "measured"}
    return {**changed, **replaced, "runs": runs}


def broken(tables: Tables) -> list[dict[str, object]]:
    """The assumptions that do not hold, and where."""
    return [row for each in predictions(tables, Asked()) for row in each.broken]


@pytest.mark.takes_long
@pytest.mark.parametrize("folder", ["runs", "hosts", "stress", "capacity", "inside/rabbitmq"])
def test_recorded_runs_keep_all_assumptions(folder: str) -> None:
    """Their limits are CPU or unknown, whatever they were recorded for."""
    for model in points.models(samples.complete(ROOT / "data/samples" / folder)):
        known = demands.demands(model)
        assert assumptions.broken(known, math.inf) == []


@pytest.mark.takes_long
def test_a_quiet_machine_keeps_them_as_well(tables: Tables) -> None:
    """No assumption is broken as long as every run keeps its rate."""
    assert broken(idle(tables)) == []


def test_a_small_window_of_confirms_is_reported(tables: Tables) -> None:
    """Four threads with one message each and 2.1 ms per confirm send at most 1,905 a second."""
    figures = {"send_rate_msg_s": 1895.0, "throughput_msg_s": 1895.0, "confirm_p50_s": 0.0021}
    offered = planted(tables, figures, {"confirms": 1})
    [row] = broken(offered)
    assert row["assumption"] == assumptions.WINDOW_LIMITS
    before, limit = str(row["because"]).split(", and with a confirm after ")
    assert before == "4 threads may have 1 unconfirmed message each"
    assert limit == "2.1 ms no more than 1,905 msg/sec come through"
    flooded = offered["messages"].assign(offered_rate_msg_s=math.nan)
    full, _ = broken({**offered, "messages": flooded})
    assert (full["assumption"], full["limit_msg_s"]) == (assumptions.WINDOW_LIMITS, 1895)
    assert "4.0 of at most 4 messages waited for their confirm" in str(full["because"])


def test_late_clients_are_no_full_window(tables: Tables) -> None:
    """Most of their messages wait to be sent, so that confirms come long after the due time."""
    figures = {"send_rate_msg_s": 500.0, "throughput_msg_s": 500.0, "confirm_p50_s": 2.0}
    late = planted(tables, figures, {"confirms": 100})
    late["latency"]["confirm_p50_s"] = late["latency"]["confirm_p50_s"].fillna(0.001)
    assert broken(late) == []  # the machine was full
    [row] = broken(idle(late))
    assert (row["assumption"], row["limit_msg_s"]) == (assumptions.CPU_LIMITS, 500)
    held_back = "clients were held back: 4 threads may have 100 unconfirmed messages each"
    assert held_back in str(row["because"])


def test_more_throughput_than_a_window_seems_to_allow(tables: Tables) -> None:
    """A busy broker confirms sooner, so the confirm time at low load limits no rate."""
    figures = {"send_rate_msg_s": 900.0, "throughput_msg_s": 900.0, "confirm_p50_s": 9.0}
    changed = planted(tables, figures, {"confirms": 1})
    changed["latency"]["confirm_p50_s"] = changed["latency"]["confirm_p50_s"].fillna(0.005)
    assert broken(changed) == []
    [row] = broken(idle(changed))
    assert (row["assumption"], row["limit_msg_s"]) == (assumptions.CPU_LIMITS, 900)


def test_a_window_of_confirms_is_of_messages_and_not_of_their_copies(tables: Tables) -> None:
    """With three deliveries of each message, 2,500 messages a second are 7,500 deliveries."""
    figures = {"send_rate_msg_s": 1500.0, "confirm_p50_s": 0.0016}
    for copies, limit in ((1, 2500.0), (3, 7500.0)):
        figures["throughput_msg_s"] = 1500.0 * copies
        [model] = points.models(planted(tables, figures, {"confirms": 1, "copies": copies}))
        found = assumptions.broken(demands.demands(model), math.inf)
        limits = [row for row in found if row["assumption"] == assumptions.WINDOW_LIMITS]
        assert [row["limit_msg_s"] for row in limits] == [pytest.approx(limit)]


def test_a_prefetch_of_one_is_reported(tables: Tables) -> None:
    """Servers receive less than is sent though CPU is left, on a machine without other load."""
    figures = {"throughput_msg_s": 600.0}
    changed = planted(tables, figures, {"acks": "each", "prefetch": 1})
    [row] = broken(idle(changed))
    assert row["assumption"] == assumptions.CPU_LIMITS
    assert "may have 1 message at a time (prefetch)" in str(row["because"])
    assert broken(changed) == []  # other processes filled the machine and may be the cause


def test_slow_consumers_are_reported(tables: Tables) -> None:
    """The large prefetch is not named; predictions above the limit are refused."""
    changed = idle(planted(tables, {"throughput_msg_s": 600.0}, {}))
    [result] = predictions(changed, Asked())
    assert "servers are slow, but not for want of CPU" in str(result.refused)
    refusal = "  No prediction: CPU is what limits:"
    assert any(line.startswith(refusal) for line in words.lines([result]))
    [below] = predictions(changed, Asked(rate=500))
    assert below.refused is None  # the limit is above the given rate


@pytest.mark.parametrize(("factor", "count"), [(1.0, 0), (1.5, 0), (2.5, 1)])
def test_a_node_that_still_warms_up_is_found(tables: Tables, factor: float, count: int) -> None:
    """Its first repeat of a point used more CPU than the second: no rate can be predicted."""
    [model] = points.models(tables)
    of_node = model.used["role"].eq("Broker")
    first, second = model.runs.nlargest(2, "rate")["run"]
    cores = model.used["cores"].mask(of_node & model.used["run"].eq(first), factor * 0.1)
    cores = cores.mask(of_node & model.used["run"].eq(second), 0.1)
    point = model.runs["point"].mask(model.runs["run"].isin([first, second]), "one")
    model = replace(model, used=model.used.assign(cores=cores), runs=model.runs.assign(point=point))
    rows = [*assumptions._unsteady(model)]
    assert [row["limit_msg_s"] for row in rows] == [0.0] * count
    assert all(
        "Broker used 0.1 cores in one repeat, 0.25 in another" in row["because"] for row in rows
    )


def test_a_full_link_is_reported(tables: Tables) -> None:
    """It is found by the bytes its host sent, or because it would be full before any CPU."""
    runs = tables["runs"]["run"]
    links = pd.DataFrame({"run": runs, "between": "client, broker", "bandwidth_bits_s": 1e8})
    network = tables["network"][tables["network"]["interface"].eq("lo")].assign(interface="eth9")
    hosts = tables["hosts"].assign(roles="client")
    found = broken({**tables, "links": links, "network": network, "hosts": hosts})
    assert {row["assumption"] for row in found} == {assumptions.LINK_LIMITS}
    assert any(row["run"] is None for row in found)
    assert any(row["run"] is not None for row in found)


def test_a_link_of_several_hosts_adds_up_each_direction(tables: Tables) -> None:
    """A host that sends and one that receives fill opposite directions."""
    runs, parts = tables["runs"]["run"], []
    for host, sent, received in (("h1", 9e6, 1e6), ("h2", 1e6, 9e6)):
        carried = {"host": host, "sent_bytes_s": sent, "received_bytes_s": received}
        parts.append(pd.DataFrame({"run": runs, "interface": "eth9", **carried}))
    network = pd.concat(parts).reindex(columns=tables["network"].columns)
    links = pd.DataFrame({"run": runs, "between": "client, broker", "bandwidth_bits_s": 1e8})
    hosts = network[["run", "host"]].assign(roles="client").reindex(columns=tables["hosts"].columns)
    changed = {**tables, "links": links, "network": network, "hosts": hosts}
    [model] = points.models(changed)
    assert {*model.link["link_bytes_s"]} == {10e6}


def test_threads_that_add_no_throughput_are_reported(tables: Tables) -> None:
    """In a closed loop without an offered rate, more threads do not raise the throughput."""
    quiet = idle(tables)
    first = quiet["runs"]["run"].iloc[0]
    runs = quiet["runs"].assign(
        test_case="rpc-call", threads=lambda frame: frame["run"].eq(first).map({True: 4, False: 8})
    )
    messages = quiet["messages"].assign(offered_rate_msg_s=None, throughput_msg_s=500.0)
    messages["offered_rate_msg_s"] = messages["offered_rate_msg_s"].astype("float64")
    changed = {name: frame for name, frame in quiet.items() if name != "measured"}
    found = broken({**changed, "runs": runs, "messages": messages})
    assert any("8 threads get 500 msg/sec where 4 get 500" in str(row["because"]) for row in found)
