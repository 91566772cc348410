"""Quotas and predictions: settings, control groups, demands, and where CPU is not what limits."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import samples
from typer.testing import CliRunner

import mqperf_capacity
from mqperf.base.errors import MqperfError, ProbeError, SystemFault
from mqperf.lab.systems import SYSTEMS
from mqperf.pages.questions.words import grouped
from mqperf.plan.file import parse_plan
from mqperf.study.tables import Tables
from mqperf_capacity.front.command import app
from mqperf_capacity.lab import probe
from mqperf_capacity.onhost import cgroups
from mqperf_capacity.pages import words
from mqperf_capacity.pages.question import ANSWERING
from mqperf_capacity.plan.quotas import Quotas
from mqperf_capacity.record.quota_log import samples as quota_samples
from mqperf_capacity.study import assumptions, demands, points
from mqperf_capacity.study.points import Model
from mqperf_capacity.study.predictions import (
    AT_LEAST,
    MEASURED,
    Asked,
    Scenario,
    frames,
    predictions,
)
from mqperf_capacity.study.regression import fit
from mqperf_capacity.study.terms import BYTE, IDLE, MESSAGE

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/capacity"
PLAN = """\
systems:
  rabbitmq:
    topologies: [single]
    settings: {broker_cores: [0.25, 0.5], broker_memory_bytes: 1073741824}
test_cases: [rpc-call]
load: {green_threads: 1, duration_s: 1}
"""


@pytest.fixture
def tables() -> Tables:
    return samples.complete(SAMPLE)


def idle(tables: Tables) -> Tables:
    """The same on a machine that nobody else used."""
    cpu = tables["cpu"].copy()
    whole = cpu["kind"].eq("host")
    own = cpu[~whole & cpu["scope"].eq("window")].groupby("run")["total_cores"].sum()
    cpu.loc[whole, "total_cores"] = cpu.loc[whole, "run"].map(own)
    return {**tables, "cpu": cpu}


def planted(tables: Tables, figures: dict[str, float], settings: dict[str, int | str]) -> Tables:
    """The tables with these figures of messages and latency in the fastest run, and settings."""
    runs = tables["runs"].assign(**settings)
    run = tables["messages"].sort_values("send_rate_msg_s")["run"].iloc[-1]
    frames_ = {}
    for name in ("messages", "latency"):
        frame = tables[name].copy()
        for column, value in figures.items():
            if column in frame.columns:
                frame.loc[frame["run"].eq(run), column] = value
        frames_[name] = frame
    changed = {name: frame for name, frame in tables.items() if name != "measured"}
    return {**changed, **frames_, "runs": runs}


def broken(tables: Tables) -> list[dict[str, object]]:
    """What is said to limit, and where."""
    return [row for each in predictions(tables, Asked()) for row in each.broken]


def test_quotas_are_axes_of_any_system() -> None:
    """Each value is a start of its own; the system itself knows nothing of them."""
    plan = parse_plan(PLAN, Path("plan.yaml"))
    assert [case.settings["broker_cores"] for case in plan.cases()] == [0.25, 0.5]
    for name, system in SYSTEMS.items():
        if name != "toy":
            system.check({"client_cores": 1, "server_memory_bytes": 2**30})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"broker_cores": 0}, "broker_cores: expected"),
        ({"broker_cores": "half"}, "broker_cores: expected"),
        ({"broker_core": 1}, "did you mean 'broker_cores'"),
        ({"client_memory_bytes": 10}, "client_memory_bytes: expected"),
    ],
    ids=["none", "words", "misspelt", "little"],
)
def test_quotas_that_are_none_are_refused(settings: dict[str, int | str], message: str) -> None:
    """By the name of the key."""
    with pytest.raises(SystemFault, match=message):
        SYSTEMS["rabbitmq"].check(settings)


def test_each_version_of_control_groups_has_its_files() -> None:
    """A quota is a share of a period of 0.1 s; memory is in bytes."""
    resources = {"cores": 0.5, "memory_bytes": 2**30}
    written = {
        (controller, version): cgroups.settings(
            cgroups.Place(controller, version, Path("/x")), resources
        )
        for controller in ("cpu", "memory")
        for version in (1, 2)
    }
    assert written == {
        ("cpu", 1): {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"},
        ("cpu", 2): {"cpu.max": "50000 100000"},
        ("memory", 1): {"memory.limit_in_bytes": "1073741824"},
        ("memory", 2): {"memory.max": "1073741824"},
    }


def test_groups_are_made_where_their_controller_is_mounted(tmp_path: Path) -> None:
    """Of both versions side by side that which has it; where none has, the reason is told."""
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified/cgroup.controllers").write_text("hugetlb memory\n")
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"cgroup {tmp_path} cgroup rw,relatime,cpu,cpuacct 0 0\n"
        f"cgroup2 {tmp_path}/unified cgroup2 rw 0 0\n"
    )
    assert cgroups.places({"cores", "memory_bytes"}, mounts) == [
        cgroups.Place("cpu", 1, tmp_path),
        cgroups.Place("memory", 2, tmp_path / "unified"),
    ]
    mounts.write_text("proc /proc proc rw 0 0\n")
    with pytest.raises(OSError, match="no control groups with the controller cpu are mounted"):
        cgroups.places({"cores"}, mounts)


def test_counters_of_both_versions_are_read(tmp_path: Path) -> None:
    """As Linux 6.18 wrote them; version 2 counts microseconds."""
    (tmp_path / "cpu.stat").write_text(
        "nr_periods 21\nnr_throttled 19\nthrottled_time 682363339\nnr_bursts 0\nburst_time 0\n"
    )
    assert [*cgroups.throttled(tmp_path)] == pytest.approx([21, 19, 0.682363339])
    (tmp_path / "cpu.stat").write_text(
        "usage_usec 5\nnr_periods 21\nnr_throttled 19\nthrottled_usec 682363\n"
    )
    assert [*cgroups.throttled(tmp_path)] == pytest.approx([21, 19, 0.682363])


def test_a_run_tells_how_often_its_quota_was_used_up(tables: Tables) -> None:
    """Over its window, with the quota that its host recorded."""
    quotas = tables["quotas"]
    assert len(quotas) == len(tables["runs"])
    assert set(quotas["group"]) == {"broker Broker"}
    assert set(quotas["quota_cores"]) == {0.5}
    assert quotas["quota_periods"].between(90, 101).all()
    assert quotas["throttled_share"].between(0, 1).all()


def test_a_process_without_its_quota_fails_the_run(tmp_path: Path) -> None:
    """As a cluster that mqperf did not start would be."""
    line = {"epoch": 1.0, "groups": {}, "outside": ["Master"]}
    (tmp_path / "quotas.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(ProbeError, match="Master on h1 ran without the quota"):
        probe.check(tmp_path, "h1")
    (tmp_path / "quotas.jsonl").write_text('{"epoch": 1.0, "gro')
    with pytest.raises(ProbeError, match=r"quotas\.jsonl:1: the log is cut short"):
        list(quota_samples(tmp_path / "quotas.jsonl"))


def test_planted_costs_are_found() -> None:
    """Idle CPU, and what a message and a byte cost; the interval holds them."""
    random = np.random.default_rng(1)
    rates = np.repeat([250.0, 1_000.0, 2_000.0], 8)
    sizes = np.tile([256.0, 4_096.0], 12)
    used = (0.05 + rates * (2e-5 + 4e-9 * sizes)) * (1 + 0.05 * random.standard_normal(24))
    terms = {
        IDLE: np.ones(24),
        MESSAGE: rates,
        BYTE: rates * sizes,
    }
    found = fit(terms, used, "planted")
    assert found is not None
    costs = {IDLE: 0.05, MESSAGE: 2e-5, BYTE: 4e-9}
    for name, planted_value in costs.items():
        value, low, high = found.of(name)
        assert low <= planted_value <= high
        assert value == pytest.approx(planted_value, rel=0.25)
    assert fit(terms, used, "planted").draws.tolist() == found.draws.tolist()  # type: ignore[union-attr]


def test_demands_are_of_every_role(tables: Tables) -> None:
    """With what they were taken from; those of the network are bytes."""
    rows = {row["role"]: row for row in demands.table(tables).to_dict("records")}
    assert [*rows] == ["Broker", "clients", "servers", "host", "network"]
    assert {row["runs_used"] for row in rows.values()} == {6}
    assert rows["Broker"]["demand_s"] > rows["Broker"]["demand_sys_s"] >= 0
    assert 300 < rows["network"]["message_bytes"] < 2_000
    assert rows["network"]["bytes_per_byte"] == pytest.approx(2, rel=0.1)


def test_the_role_that_is_full_first_bounds_the_rate(tables: Tables) -> None:
    """More cores sustain more; what lies beyond what was measured is said to."""
    [plain] = predictions(tables, Asked(rate=1_500, payload=1_024, price=0.04))
    rows = {row["role"]: row for row in plain.rows}
    assert plain.refused is None
    assert rows["all"]["full_msg_s"] == rows["Broker"]["full_msg_s"]
    assert rows["Broker"]["used_cores_low"] < rows["Broker"]["used_cores"] < 0.5
    assert 0 < rows["all"]["p50_s"] <= rows["all"]["p99_s"]
    assert rows["all"]["million_cost"] > 0
    assert rows["all"]["extrapolated"] is None
    [large] = predictions(tables, Asked(cores=16))
    assert large.whole["full_msg_s"] > plain.whole["full_msg_s"]
    assert "16 cores are more than the 2 of the machine" in large.whole["extrapolated"]
    assert "host" not in {row["role"] for row in large.rows}


def taken_together(payloads: list[int]) -> Model:
    """Messages of 90 µs at low load, and of 18 µs where the broker has used up half a core."""
    rows = [(rate, 90e-6 * rate) for rate in (500, 1_000, 2_000)]
    rows += [(rate, 0.5) for rate in (27_000, 27_778, 28_500)]
    runs = pd.DataFrame(
        {
            "run": [f"{rate}-{size}" for rate, _ in rows for size in payloads],
            "rate": [float(rate) for rate, _ in rows for _ in payloads],
            "body_bytes": [float(size) for _ in rows for size in payloads],
        }
    )
    used = [
        pd.DataFrame({"run": runs["run"], "role": role, "cores": cores, "capacity": capacity})
        for role, capacity, cores in (
            ("Broker", 0.5, [cores for _, cores in rows for _ in payloads]),
            ("clients", 1.0, [min(20e-6 * rate, 0.1) for rate, _ in rows for _ in payloads]),
        )
    ]
    every = pd.concat(used, ignore_index=True).assign(sys=0.0)
    nothing = pd.DataFrame(columns=["run", "bytes_s"])
    return Model({}, "", runs, every, nothing, nothing, 2.0)


@pytest.mark.parametrize("payloads", [[256], [256, 4_096]])
def test_a_role_that_is_full_takes_messages_together(payloads: list[int]) -> None:
    """So runs in which it was full tell what it sustains; at low load it is the least."""
    model = taken_together(payloads)
    known = demands.demands(model)
    size = float(payloads[-1])
    scenario = Scenario(known, Asked(rate=10_000), size)
    assert (scenario.first, scenario.known_to_be("Broker")) == ("Broker", MEASURED)
    assert scenario.bound[0] == pytest.approx(0.5 / 18e-6, rel=0.02)
    assert scenario.of_role("Broker")["used_share"] == 1
    assert scenario.known_to_be("clients") == AT_LEAST
    costs = {row["role"]: row for row in demands._rows(known)}
    assert costs["Broker"]["demand_s"] == pytest.approx(90e-6, rel=0.02)
    assert costs["Broker"]["demand_full_s"] == pytest.approx(18e-6, rel=0.02)
    assert costs["clients"]["demand_full_s"] < costs["clients"]["demand_s"]
    smaller = Scenario(known, Asked(cores=0.25), size)
    assert smaller.bound[0] == pytest.approx(0.25 / 18e-6, rel=0.02)
    like, unlike = (
        np.ptp(np.quantile(each.bound[1], [0.05, 0.95])) / each.bound[0]
        for each in (scenario, smaller)
    )
    assert like < 0.2
    assert 0.5 < unlike < 1
    low = replace(model, runs=model.runs[model.runs["rate"] < 27_000])
    alone = Scenario(replace(known, model=low), Asked(), size)
    assert (alone.first, alone.known_to_be("Broker")) == ("Broker", AT_LEAST)
    assert alone.bound[0] == pytest.approx(0.5 / 90e-6, rel=0.02)


def test_full_load_tells_of_bodies_like_its_own() -> None:
    """Of others it tells nothing, where it is not known what a byte costs."""
    known = demands.demands(taken_together([256]))
    assert Scenario(known, Asked(), 4_096.0).known_to_be("Broker") == AT_LEAST


def test_what_is_nearly_full_has_no_latency(tables: Tables) -> None:
    """It would depend on how long the load lasts."""
    [result] = predictions(tables, Asked(rate=1e6))
    assert "p50_s" not in result.whole
    assert any("more than there is" in line for line in words.lines([result]))


@pytest.mark.parametrize("folder", ["runs", "hosts", "stress", "capacity", "inside/rabbitmq"])
def test_recorded_runs_break_no_assumption(folder: str) -> None:
    """Whatever they were recorded for: their limits are CPU, or are not known."""
    for model in points.models(samples.complete(ROOT / "data/samples" / folder)):
        known = demands.demands(model)
        assert assumptions.broken(known, math.inf) == []


def test_a_quiet_machine_breaks_none_either(tables: Tables) -> None:
    """As long as every run keeps its rate."""
    assert broken(idle(tables)) == []


def test_a_small_window_of_confirms_is_told(tables: Tables) -> None:
    """Four threads, one message each, and 5 ms until the confirm: no more than 800 a second."""
    figures = {"send_rate_msg_s": 790.0, "throughput_msg_s": 790.0, "confirm_p50_s": 0.005}
    full, *_ = broken(planted(tables, figures, {"confirms": 1}))
    assert full["assumption"] == assumptions.WINDOW_LIMITS
    assert "of at most 4 messages waited for their confirm" in str(full["because"])
    assert full["limit_msg_s"] == 790


def test_a_window_of_confirms_is_of_messages_and_not_of_their_copies(tables: Tables) -> None:
    """Of each with three deliveries, 800 a second are 2,400 that come through."""
    figures = {"send_rate_msg_s": 500.0, "throughput_msg_s": 1500.0, "confirm_p50_s": 0.005}
    for copies, limit in ((1, 800.0), (3, 2400.0)):
        figures["throughput_msg_s"] = 500.0 * copies
        [model] = points.models(planted(tables, figures, {"confirms": 1, "copies": copies}))
        told = assumptions.broken(demands.demands(model), math.inf)
        limits = [row for row in told if row["assumption"] == assumptions.WINDOW_LIMITS]
        assert [row["limit_msg_s"] for row in limits] == [pytest.approx(limit)]


@pytest.mark.parametrize("machines", [("m", "m"), ("m", "n")])
def test_hosts_of_one_machine_are_full_together(tables: Tables, machines: tuple[str, str]) -> None:
    """Their roles share its cores; those of several machines do not."""
    cpu, hosts = tables["cpu"], tables["hosts"].drop_duplicates("run")
    names = cpu["kind"].isin(["client", "server"]).map({True: "b", False: "a"})
    both = [
        hosts.assign(host=host, machine=machine)
        for host, machine in zip("ab", machines, strict=True)
    ]
    apart = {**tables, "cpu": cpu.assign(host=names), "hosts": pd.concat(both)}
    [alone], [result] = predictions(tables, Asked()), predictions(apart, Asked())
    roles = {row["role"] for row in alone.rows} - {row["role"] for row in result.rows}
    assert roles == (set() if machines == ("m", "m") else {"host"})


def test_a_prefetch_of_one_is_told(tables: Tables) -> None:
    """Servers take less than is sent, with CPU left: on a machine of which somebody can tell."""
    figures = {"throughput_msg_s": 600.0}
    changed = planted(tables, figures, {"acks": "each", "prefetch": 1})
    [row] = broken(idle(changed))
    assert row["assumption"] == assumptions.CPU_LIMITS
    assert "may have 1 message at a time (prefetch)" in str(row["because"])
    assert broken(changed) == []  # others had filled the machine: it may have been they


def test_slow_consumers_are_told(tables: Tables) -> None:
    """Without a word of prefetch, which is large; the prediction is refused above."""
    changed = idle(planted(tables, {"throughput_msg_s": 600.0}, {}))
    [result] = predictions(changed, Asked())
    assert "servers are slow, but not for want of CPU" in str(result.refused)
    refusal = "  No prediction: CPU is what limits:"
    assert any(line.startswith(refusal) for line in words.lines([result]))
    [below] = predictions(changed, Asked(rate=500))
    assert below.refused is None  # what limits is above what is asked about


@pytest.mark.parametrize(("factor", "told"), [(1.0, 0), (1.5, 0), (2.5, 1)])
def test_a_node_that_still_warms_up_is_told(tables: Tables, factor: float, told: int) -> None:
    """Its first repeat of a point used more CPU than the second: no rate can be predicted."""
    [model] = points.models(tables)
    of_node = model.used["role"].eq("Broker")
    first, second = model.runs.nlargest(2, "rate")["run"]
    cores = model.used["cores"].mask(of_node & model.used["run"].eq(first), factor * 0.1)
    cores = cores.mask(of_node & model.used["run"].eq(second), 0.1)
    point = model.runs["point"].mask(model.runs["run"].isin([first, second]), "one")
    model = replace(model, used=model.used.assign(cores=cores), runs=model.runs.assign(point=point))
    rows = [*assumptions._unsteady(model)]
    assert [row["limit_msg_s"] for row in rows] == [0.0] * told
    assert all(
        "Broker used 0.1 cores in one repeat, 0.25 in another" in row["because"] for row in rows
    )


def test_a_full_link_is_told(tables: Tables) -> None:
    """By what its end's host sent; and a link that would be full before any CPU."""
    runs = tables["runs"]["run"]
    links = pd.DataFrame({"run": runs, "between": "client, broker", "bandwidth_bits_s": 1e8})
    network = tables["network"][tables["network"]["interface"].eq("lo")].assign(interface="eth9")
    hosts = tables["hosts"].assign(roles="client")
    told = broken({**tables, "links": links, "network": network, "hosts": hosts})
    assert {row["assumption"] for row in told} == {assumptions.LINK_LIMITS}
    assert any(row["run"] is None for row in told)
    assert any(row["run"] is not None for row in told)


def test_a_link_of_several_hosts_carries_each_way_what_they_do(tables: Tables) -> None:
    """One that sends and one that receives do not fill the same way."""
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


def test_threads_that_bring_nothing_are_told(tables: Tables) -> None:
    """Of a closed loop, whose rate nobody offers."""
    quiet = idle(tables)
    first = quiet["runs"]["run"].iloc[0]
    runs = quiet["runs"].assign(
        test_case="rpc-call", threads=lambda frame: frame["run"].eq(first).map({True: 4, False: 8})
    )
    messages = quiet["messages"].assign(offered_rate_msg_s=None, throughput_msg_s=500.0)
    messages["offered_rate_msg_s"] = messages["offered_rate_msg_s"].astype("float64")
    changed = {name: frame for name, frame in quiet.items() if name != "measured"}
    told = broken({**changed, "runs": runs, "messages": messages})
    assert any("8 threads get 500 msg/sec where 4 get 500" in str(row["because"]) for row in told)


def test_the_command_says_what_the_function_does() -> None:
    """With 1 as its exit code where there is no prediction, and the reason in words."""
    result = CliRunner().invoke(app, [str(SAMPLE), "--rate", "1500", "--cores", "2"])
    assert result.exit_code == 0, result.output
    assert result.output.rstrip() == repr(mqperf_capacity.predict(SAMPLE, rate=1_500, cores=2))
    assert "It sustains" in result.output
    few = CliRunner().invoke(app, [str(ROOT / "data/samples/stress")])
    assert few.exit_code == 1
    assert "3 are needed: measure lower rates, or more repeats" in few.output
    rows = CliRunner().invoke(app, [str(SAMPLE), "--format", "json"]).output.splitlines()
    assert {json.loads(row)["table"] for row in rows} == {"demands", "predictions"}
    with pytest.raises(MqperfError, match="cores is -1: give a number above 0"):
        mqperf_capacity.predict(SAMPLE, cores=-1)


def test_the_question_tells_the_rate_and_who_is_full(tables: Tables) -> None:
    """From the whole prediction; what is known at least comes with what would tell the rest."""
    [predicted] = predictions(tables, Asked())
    answer = ANSWERING.answer(tables)
    assert answer is not None
    assert answer.table is not None
    sentence, _others = answer.sentences
    limit = grouped(predicted.whole["full_msg_s_low"])
    assert sentence.startswith(f"**PUBLISH**: **at least {limit} msg/sec** (lower end")
    assert "; then node Broker has used up 0.5 cores. From" in sentence
    roles = pd.DataFrame(answer.table.rows)["of_role"]
    assert {"node Broker", "the clients of the load generator"} <= {*roles}
    [higher] = answer.settle
    assert higher.startswith("Runs at a rate that is too high")
    few = ANSWERING.answer(samples.complete(ROOT / "data/samples/stress"))
    assert few is not None
    assert all(": no prediction: " in text for text in few.sentences)
    assert few.table is None
    assert not few.settle


def test_what_rests_on_contradicted_numbers_is_told(tables: Tables) -> None:
    """By kind, in both places; that a run misses its rate is what full load is."""
    first = tables["runs"]["run"].iloc[0]
    doubts = pd.DataFrame({"run": first, "kind": ["cpu-too-low", "rate-missed"]})
    doubted = {**tables, "doubts": doubts.reindex(columns=tables["doubts"].columns)}
    answer = ANSWERING.answer(doubted)
    assert answer is not None
    assert answer.sentences[0].endswith("; doubted: cpu-too-low.")
    for runs, said in ((tables, False), (doubted, True)):
        told = "\n".join(words.lines(predictions(runs, Asked())))
        assert ("contradict their numbers (cpu-too-low); mqperf audit" in told) == said


def test_other_bodies_need_two_lengths(tables: Tables) -> None:
    """What a byte costs is not known of one."""
    one = tables["runs"].assign(payload_bytes=256)
    changed = {name: frame for name, frame in tables.items() if name != "measured"}
    [result] = predictions({**changed, "runs": one}, Asked(payload=1_000))
    assert "measure two lengths of bodies" in str(result.refused)
    predicted, empty = frames([result])
    assert predicted.empty
    assert empty.empty


def test_quotas_of_a_role_are_told_apart() -> None:
    """By its name."""
    quotas = Quotas(broker_cores=0.5, client_memory_bytes=2**30)
    assert quotas.of("broker") == {"cores": 0.5}
    assert quotas.of("client") == {"memory_bytes": 2**30}
    assert quotas.of("server") == {}
