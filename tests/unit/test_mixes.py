"""Mixes of test cases: the use of a resource is the sum, and all share the waiting."""

import json
from pathlib import Path

import pandas as pd
import pytest
import samples
from typer.testing import CliRunner

import mqperf_capacity
from mqperf.base.errors import MqperfError
from mqperf.study.tables import Tables
from mqperf_capacity.front.command import COMMAND
from mqperf_capacity.pages import mixes as words
from mqperf_capacity.pages.question import ANSWERING
from mqperf_capacity.study.mixes import Mix, mixes, table
from mqperf_capacity.study.predictions import ALL, Asked, Row, predictions
from mqperf_capacity.study.terms import IDLE

SAMPLE = Path(__file__).parents[2] / "data/samples/capacity"


def with_another(tables: Tables, name: str, cost: float = 1.0) -> Tables:
    """The same runs also as another test case, whose messages cost this many times as much."""
    both = {}
    for table_name, frame in tables.items():
        if "run" not in frame.columns or table_name == "measured":
            continue
        other = frame.assign(run=frame["run"] + "-other")
        if "test_case" in frame.columns:
            other["test_case"] = name
        if "point" in frame.columns:
            other["point"] = frame["point"] + "-other"
        if table_name == "cpu":
            used = ["total_cores", "sys_cores"]
            other[used] = other[used] * cost
        both[table_name] = pd.concat([frame, other], ignore_index=True)
    return {**{n: f for n, f in tables.items() if n != "measured"}, **both}


@pytest.fixture
def tables() -> Tables:
    return samples.complete(SAMPLE)


def only(tables: Tables, rates: dict[str, float], cores: float | None = None) -> Mix:
    """The only mix."""
    [mix] = mixes(tables, rates, cores)
    return mix


def by_role(mix: Mix) -> dict[str, Row]:
    """The rows of a mix by role."""
    return {row["role"]: row for row in mix.rows if "test_case" not in row}


def test_one_test_case_is_a_mix_of_itself(tables: Tables) -> None:
    """Cores, share and latency equal those of a prediction at its rate."""
    [alone] = predictions(tables, Asked(rate=1_500))
    mixed = by_role(only(tables, {"publish": 1_500}))
    for row in alone.rows:
        if row["role"] in {"Broker", "host"}:
            for name in ("used_cores", "used_share", "capacity_cores"):
                assert mixed[row["role"]][name] == pytest.approx(row[name])
    [case] = [row for row in only(tables, {"publish": 1_500}).rows if "test_case" in row]
    assert case["p50_s"] == pytest.approx(alone.together["p50_s"], rel=0.2)


def test_cores_are_the_sum_of_what_each_costs(tables: Tables) -> None:
    """Equal test cases add their rates; with twice the cost half the rate is equivalent."""
    [alone] = predictions(tables, Asked(rate=1_500))
    [expected] = [row["used_cores"] for row in alone.rows if row["role"] == "Broker"]
    idle, *_ = alone.known.cpu["Broker"].of(IDLE)
    for cost, rate in ((1.0, 500.0), (2.0, 250.0)):
        both = with_another(tables, "notify", cost)
        mixed = by_role(only(both, {"publish": 1_000, "notify": rate}))
        mean_idle = (1 + cost) / 2 * idle
        assert mixed["Broker"]["used_cores"] == pytest.approx(expected - idle + mean_idle, rel=0.02)


def test_the_first_full_role_limits_the_mix(tables: Tables) -> None:
    """The first role to be full limits the mix; half of the cores halve it."""
    both, rates = with_another(tables, "notify"), {"publish": 500.0, "notify": 500.0}
    whole, half = (by_role(only(both, rates, cores)) for cores in (1.0, 0.5))
    for roles in (whole, half):
        assert roles[ALL]["full_msg_s"] == min(
            row["full_msg_s"] for name, row in roles.items() if name != ALL
        )
        assert roles[ALL]["full_is"] == "at least"
    assert whole[ALL]["full_msg_s"] > 1.8 * half[ALL]["full_msg_s"]
    [line] = [line for line in words.lines([only(both, rates, 0.5)]) if "sustained" in line]
    assert line.endswith("then node Broker has used up 0.5 cores.")


def test_each_waits_for_all(tables: Tables) -> None:
    """Latency is higher beside another test case; at overload none is predicted."""
    both = with_another(tables, "notify")
    rows = [
        next(row for row in only(both, rates).rows if row.get("test_case") == "publish")
        for rates in ({"publish": 500.0}, {"publish": 500.0, "notify": 2_000.0})
    ]
    assert rows[1]["p50_s"] >= rows[0]["p50_s"]
    full = only(both, {"publish": 500.0, "notify": 1e6})
    assert all("p50_s" not in row for row in full.rows)
    text = "\n".join(words.lines([full]))
    assert "more than it has" in text
    assert "latency of PUBLISH: not predicted" in text


def test_unknown_demands_are_refused(tables: Tables) -> None:
    """Test cases without runs, with too few of them, or with another limit."""
    lacking = only(tables, {"publish": 500.0, "notify": 500.0})
    assert lacking.refused == "there is no run of NOTIFY"
    few = {**tables, "runs": tables["runs"].groupby("rate_msg_s").head(1).head(2)}
    assert "3 are needed" in str(only(few, {"publish": 500.0}).refused)
    window = tables["runs"].assign(confirms=1)
    slow = tables["latency"].assign(confirm_p50_s=0.002)
    limited = {**tables, "runs": window, "latency": slow}
    limited.pop("measured", None)
    refused = only(limited, {"publish": 5_000.0})
    assert "no more than 2,000 msg/sec come through" in str(refused.refused)
    assert only(limited, {"publish": 1_000.0}).refused is None
    assert refused.rows == []
    assert "  No prediction: PUBLISH: " in "\n".join(words.lines([refused]))


def test_the_question_points_to_mixes_where_there_are_several(tables: Tables) -> None:
    """Only several test cases give the hint to --mix."""
    for of, several in ((tables, False), (with_another(tables, "notify"), True)):
        answer = ANSWERING.answer(of)
        assert answer is not None
        assert any("--mix" in sentence for sentence in answer.sentences) == several


def test_extrapolation_is_reported(tables: Tables) -> None:
    """Rates or cores beyond the measured ones are named as extrapolated."""
    assert [*only(tables, {"publish": 1_000.0}, 2).beyond()] == []
    mix = only(tables, {"publish": 5_000.0}, 4)
    assert [*mix.beyond()] == [
        "PUBLISH was measured at half load up to 2,000 msg/sec",
        "the machine measured on has 2 cores",
    ]
    assert any(line.startswith("  Extrapolated: PUBLISH") for line in words.lines([mix]))


def test_a_system_without_a_broker_has_its_machine_alone(tables: Tables) -> None:
    """Without a common machine no prediction is possible."""
    cpu, rest = tables["cpu"], {name: tables[name] for name in tables if name != "measured"}
    direct = {**rest, "cpu": cpu[cpu["kind"].ne("broker")]}
    mix = only(direct, {"publish": 1_000.0})
    assert {*by_role(mix)} == {"host", ALL}
    assert any("latency of PUBLISH: not predicted" in line for line in words.lines([mix]))
    assert "there is no broker" in str(only(direct, {"publish": 1_000.0}, 2).refused)
    hosts = tables["hosts"].assign(machine=None)
    apart = hosts.assign(host="another")
    names = cpu["host"].where(cpu["kind"].ne("client"), "another")
    several = {
        **direct,
        "cpu": direct["cpu"].assign(host=names),
        "hosts": pd.concat([hosts, apart]),
    }
    assert "there is no broker" in str(only(several, {"publish": 1_000.0}).refused)


def test_rows_are_of_the_table_of_predictions(tables: Tables) -> None:
    """Each row has the rates; rows of a test case have its name."""
    both = with_another(tables, "notify")
    rows = table(mixes(both, {"publish": 500.0, "notify": 250.0}))
    assert set(rows["parameters"]) == {"publish 500 msg/sec, notify 250 msg/sec"}
    assert rows["test_case"].dropna().tolist() == ["publish", "notify"]


@pytest.mark.takes_long
def test_the_command_says_what_the_function_does() -> None:
    """The same prediction; invalid options are errors."""
    result = CliRunner().invoke(COMMAND.app, [str(SAMPLE), "--mix", "publish=1500"])
    assert result.exit_code == 0, result.output
    assert result.output.rstrip() == repr(mqperf_capacity.predict_mix(SAMPLE, {"publish": 1_500}))
    argv = [str(SAMPLE), "--mix", "publish=1500", "--format", "json"]
    printed = CliRunner().invoke(COMMAND.app, argv).output.splitlines()
    assert {json.loads(row)["table"] for row in printed} == {"demands", "predictions"}
    both = CliRunner().invoke(COMMAND.app, [str(SAMPLE), "--mix", "publish=1", "--mix", "notify=1"])
    assert both.exit_code == 1
    assert "there is no run of NOTIFY" in both.output
    for wrong, why in (
        (["--mix", "publish"], "--mix publish: give TEST_CASE=RATE, as in notify=500"),
        (["--mix", "publish=1", "--rate", "5"], "--mix has the rates"),
        (["--mix", "shout=5"], "shout is no test case"),
        (["--mix", "publish=-1"], "publish is -1: give a number above 0"),
        (["--mix", "rpc-call=1"], "no run of rpc-call is complete"),
    ):
        caught = CliRunner().invoke(COMMAND.app, [str(SAMPLE), *wrong]).exception
        assert isinstance(caught, MqperfError)
        assert why in str(caught)
