"""Predictions: CPU per message, the sustained rate, and their report."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import samples
from typer.testing import CliRunner

import mqperf_capacity
from mqperf.base.errors import MqperfError
from mqperf.pages.questions.words import grouped
from mqperf.study.tables import Tables
from mqperf_capacity.front.command import COMMAND
from mqperf_capacity.pages import words
from mqperf_capacity.pages.figure import drawing
from mqperf_capacity.pages.question import ANSWERING
from mqperf_capacity.study import demands
from mqperf_capacity.study.points import Model, models
from mqperf_capacity.study.predictions import (
    AT_LEAST,
    MEASURED,
    Asked,
    Scenario,
    frames,
    predictions,
)
from mqperf_capacity.study.regression import fit, interval
from mqperf_capacity.study.terms import BYTE, IDLE, MESSAGE

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/capacity"


@pytest.fixture
def tables() -> Tables:
    return samples.complete(SAMPLE)


def test_planted_costs_are_found() -> None:
    """The intervals contain the planted idle CPU, and the costs of a message and of a byte."""
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


def test_commands_can_use_all_cores_of_their_host(tables: Tables) -> None:
    """Any other process of a load generator can use one core."""
    (model,) = models(tables)
    generator = tables["runs"].assign(generator="command")
    (of_commands,) = models({**tables, "runs": generator})
    capacities = [each.used.set_index("role")["capacity"] for each in (model, of_commands)]
    assert {*capacities[0]["clients"]} == {1.0}
    assert {*capacities[1]["clients"]} == {float(generator["cores"].iloc[0])}


def test_every_role_has_demands(tables: Tables) -> None:
    """They have the number of runs used; those of the network are in bytes."""
    rows = {row["role"]: row for row in demands.table(tables).to_dict("records")}
    assert [*rows] == ["Broker", "clients", "servers", "host", "network"]
    assert {row["runs_used"] for row in rows.values()} == {6}
    assert rows["Broker"]["demand_s"] > rows["Broker"]["demand_sys_s"] >= 0
    assert 300 < rows["network"]["message_bytes"] < 2_000
    assert rows["network"]["bytes_per_byte"] == pytest.approx(2, rel=0.1)


def test_the_role_that_is_full_first_bounds_the_rate(tables: Tables) -> None:
    """More cores sustain more; a prediction beyond the measured range is marked as such."""
    [plain] = predictions(tables, Asked(rate=1_500, payload=1_024, price=0.04))
    rows = {row["role"]: row for row in plain.rows}
    assert plain.refused is None
    assert rows["all"]["full_msg_s"] == rows["Broker"]["full_msg_s"]
    assert rows["Broker"]["used_cores_low"] < rows["Broker"]["used_cores"] < 0.5
    assert 0 < rows["all"]["p50_s"] <= rows["all"]["p99_s"]
    assert rows["all"]["million_cost"] > 0
    assert rows["all"]["extrapolated"] is None
    [large] = predictions(tables, Asked(cores=16))
    assert large.together["full_msg_s"] > plain.together["full_msg_s"]
    assert "16 cores are more than the 2 of the machine" in large.together["extrapolated"]
    assert "host" not in {row["role"] for row in large.rows}


def test_a_rate_that_is_not_sustained_has_no_price(tables: Tables) -> None:
    """Idle CPU alone sustains nothing; above the bound the price is that at the bound."""
    [idle] = predictions(tables, Asked(cores=0.001, price=0.04))
    assert "million_cost" not in idle.together or pd.isna(idle.together["million_cost"])
    dear, plain = (
        predictions(tables, Asked(rate=rate, cores=1, price=0.04))[0].together["million_cost"]
        for rate in (10_000_000, None)
    )
    assert dear == pytest.approx(plain)


def taken_together(payloads: list[int]) -> Model:
    """A model with 90 µs a message at low load, and 18 µs where the broker is full at 0.5 cores."""
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
def test_a_full_role_processes_messages_in_batches(payloads: list[int]) -> None:
    """Runs in which it was full measure what it sustains; low load gives a lower bound."""
    model = taken_together(payloads)
    known = demands.demands(model)
    size = float(payloads[-1])
    scenario = Scenario(known, Asked(rate=10_000), size)
    assert (scenario.first, scenario.full_is("Broker")) == ("Broker", MEASURED)
    assert scenario.bound[0] == pytest.approx(0.5 / 18e-6, rel=0.02)
    assert scenario.of_role("Broker")["used_share"] == 1
    assert scenario.full_is("clients") == AT_LEAST
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
    assert (alone.first, alone.full_is("Broker")) == ("Broker", AT_LEAST)
    assert alone.bound[0] == pytest.approx(0.5 / 90e-6, rel=0.02)


def test_another_start_of_the_broker_differs_more_than_repeats_show() -> None:
    """The interval of CPU has a least width, although all runs agree."""
    known = demands.demands(taken_together([256]))
    assert known.cpu["Broker"].spread < 1e-6
    _, low, high = interval(*known.in_a_run("Broker", 1_000.0, 256.0))
    assert 0.7 < low / 0.09 < 0.85
    assert 1.15 < high / 0.09 < 1.3


def test_full_load_is_evidence_for_bodies_of_its_length() -> None:
    """Other lengths need the cost of a byte, which is not known here."""
    known = demands.demands(taken_together([256]))
    assert Scenario(known, Asked(), 4_096.0).full_is("Broker") == AT_LEAST


def test_a_nearly_full_role_has_no_latency(tables: Tables) -> None:
    """It would depend on how long the load lasts."""
    [result] = predictions(tables, Asked(rate=1e6))
    assert "p50_s" not in result.together
    assert any("more than it has" in line for line in words.lines([result]))


@pytest.mark.parametrize("machines", [("m", "m"), ("m", "n")])
def test_hosts_of_one_machine_are_full_together(tables: Tables, machines: tuple[str, str]) -> None:
    """Roles on hosts of one machine share its cores; those on several machines do not."""
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


@pytest.mark.takes_long
def test_the_command_says_what_the_function_does() -> None:
    """Without a prediction the exit code is 1, and the output has the reason."""
    result = CliRunner().invoke(COMMAND.app, [str(SAMPLE), "--rate", "1500", "--cores", "2"])
    assert result.exit_code == 0, result.output
    assert result.output.rstrip() == repr(mqperf_capacity.predict(SAMPLE, rate=1_500, cores=2))
    assert "It sustains" in result.output
    few = CliRunner().invoke(COMMAND.app, [str(ROOT / "data/samples/stress")])
    assert few.exit_code == 1
    assert "3 are needed: measure lower rates, or more repeats" in few.output
    rows = CliRunner().invoke(COMMAND.app, [str(SAMPLE), "--format", "json"]).output.splitlines()
    assert {json.loads(row)["table"] for row in rows} == {"demands", "predictions"}
    with pytest.raises(MqperfError, match="cores is -1: give a number above 0"):
        mqperf_capacity.predict(SAMPLE, cores=-1)


def test_the_answer_has_the_rate_and_the_full_role(tables: Tables) -> None:
    """A lower bound comes with the measurement that would tell more."""
    [predicted] = predictions(tables, Asked())
    answer = ANSWERING.answer(tables)
    assert answer is not None
    assert answer.table is not None
    sentence, _ = answer.sentences
    limit = grouped(predicted.together["full_msg_s_low"])
    assert sentence.startswith(f"**PUBLISH**: **at least {limit} msg/sec** (lower end")
    assert "; then node Broker has used up 0.5 cores. From" in sentence
    roles = pd.DataFrame(answer.table.rows)["of_role"]
    assert {"node Broker", "the clients of the load generator"} <= {*roles}
    [higher] = answer.settle
    assert higher.startswith("Runs under overload")
    few = ANSWERING.answer(samples.complete(ROOT / "data/samples/stress"))
    assert few is not None
    assert all(": no prediction: " in text for text in few.sentences)
    assert few.table is None
    assert not few.settle


@pytest.mark.parametrize("cores", [2, 0.8])
def test_the_machine_is_drawn_where_it_is_full_first(tables: Tables, cores: float) -> None:
    """Otherwise only the roles on it are drawn."""
    drawn = cores < 1
    changed = {name: frame for name, frame in tables.items() if name != "measured"}
    changed["runs"] = tables["runs"].assign(cores=cores)
    [result] = predictions(changed, Asked())
    assert words.filled(result).startswith("the machine") == drawn
    [axes] = drawing([result], changed).figure().axes
    _, names = axes.get_legend_handles_labels()
    assert ("the machine that they all share" in names) == drawn


def test_bodies_need_no_length(tables: Tables) -> None:
    """The simulator has no ``payload_bytes``: it draws lengths from a table."""
    changed = {name: frame for name, frame in tables.items() if name != "measured"}
    changed["runs"] = tables["runs"].drop(columns="payload_bytes")
    answer = ANSWERING.answer(changed)
    assert answer is not None
    assert "(lower end of the 90 % interval); then node Broker" in answer.sentences[0]
    assert "It sustains" in "\n".join(words.lines(predictions(changed, Asked(rate=500))))


def test_doubts_about_the_numbers_are_reported(tables: Tables) -> None:
    """Both outputs name the kinds, except for a missed rate, which is what full load means."""
    first = tables["runs"]["run"].iloc[0]
    doubts = pd.DataFrame({"run": first, "kind": ["cpu-too-low", "rate-missed"]})
    doubted = {**tables, "doubts": doubts.reindex(columns=tables["doubts"].columns)}
    answer = ANSWERING.answer(doubted)
    assert answer is not None
    assert answer.sentences[0].endswith("; doubted: cpu-too-low.")
    for runs, warned in ((tables, False), (doubted, True)):
        text = "\n".join(words.lines(predictions(runs, Asked())))
        assert ("contradict their numbers (cpu-too-low); see mqperf audit" in text) == warned


def test_other_bodies_need_two_lengths(tables: Tables) -> None:
    """The cost of a byte cannot be known from one length."""
    one = tables["runs"].assign(payload_bytes=256)
    changed = {name: frame for name, frame in tables.items() if name != "measured"}
    [result] = predictions({**changed, "runs": one}, Asked(payload=1_000))
    assert "measure two lengths of bodies" in str(result.refused)
    predicted, empty = frames([result])
    assert predicted.empty
    assert empty.empty
