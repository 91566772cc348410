"""Options of oslo.messaging's drivers in a plan: as axes, in named sets, refused, and passed on."""

from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.load.oslo import releases
from mqperf.lab.load.oslo.drivers import options
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.possible import Possible, check_plan
from mqperf.plan import Plan
from mqperf.plan.columns import COLUMNS
from mqperf.plan.driver import DRIVERS, OPTIONS
from mqperf.plan.file import parse_plan
from mqperf.plan.load import GENERATORS
from mqperf_software.lab.rabbitmq import VersionSettings

TEXT = """\
systems:
  rabbitmq: {topologies: [cmsm], queues: [declared]}
test_cases: [rpc-call]
load:
  green_threads: 1
  duration_s: 1
  driver: DRIVER
"""
SETS = (
    "{defaults: {}, one: {heartbeat_rate: 2},"
    " both: {heartbeat_rate: [2, 4], use_queue_manager: true}}"
)
BROKER = Endpoint("amqp-0-9-1", ("127.0.0.1:1",), "user", "secret")
ACCESS = Access(BROKER, BROKER)


def plan(driver: str, **replaced: str) -> Plan:
    text = TEXT.replace("DRIVER", driver)
    for old, new in replaced.items():
        text = text.replace(old, new)
    return parse_plan(text, Path("plan.yaml"), problems_of)


def refused(driver: str, **replaced: str) -> str:
    with pytest.raises(PlanError) as error:
        plan(driver, **replaced)
    return str(error.value)


def test_a_list_is_an_axis() -> None:
    """Every combination is a point with an id of its own, and the preview counts them all."""
    swept = plan("{rabbit_qos_prefetch_count: [0, 10], use_queue_manager: [false, true]}")
    points = [dict(case.parameters) for case in swept.cases()]
    assert points == [
        {"rabbit_qos_prefetch_count": count, "use_queue_manager": used}
        for count in (0, 10)
        for used in (False, True)
    ]
    assert len({case.id for case in swept.cases()}) == swept.number_of_cases == 4


def test_each_point_has_one_of_the_named_sets() -> None:
    """A point has the name of its set, and every option in it."""
    swept = plan(SETS)
    assert [dict(case.parameters) for case in swept.cases()] == [
        {"driver": "defaults"},
        {"driver": "one", "heartbeat_rate": 2},
        {"driver": "both", "heartbeat_rate": 2, "use_queue_manager": True},
        {"driver": "both", "heartbeat_rate": 4, "use_queue_manager": True},
    ]
    assert swept.number_of_cases == 4


def test_a_plan_without_options_keeps_its_ids() -> None:
    """Earlier runs are found again, and records have no options."""
    [case] = plan("{}").cases()
    assert case.parameters == {}
    assert not {*GENERATORS["simulator"].resolved(case)} & {*OPTIONS, "driver"}


def test_sets_are_decided_against_the_first() -> None:
    """With ``decide``, each set is compared with the first one, whatever options they have."""
    text = TEXT.replace("DRIVER", SETS.replace("[2, 4]", "4")) + "decide: {within: 1 min}\n"
    compared = parse_plan(text, Path("plan.yaml"), problems_of).comparisons()
    assert [(one.axis, one.names) for one in compared] == [
        ("driver", ("defaults", "one")),
        ("driver", ("defaults", "both")),
    ]


def test_truth_values_are_decided_as_words_are() -> None:
    """An option may be off in some points and on in others."""
    text = TEXT.replace("DRIVER", "{use_queue_manager: [false, true]}") + "decide: {}\n"
    [compared] = parse_plan(text, Path("plan.yaml"), problems_of).comparisons()
    assert (compared.axis, compared.names) == ("use_queue_manager", ("false", "true"))


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        ("{heartbeat_in_pthread: false}", "has no such option; did you mean 'heartbeat_t"),
        ("{a: {rabbit_quorum_queu: true}}", "did you mean 'rabbit_quorum_queue'?"),
        ("{idle_timeout: 1}", "oslo.messaging 18.3.1 for rabbitmq has no such option"),
        ("{use_queue_manager: 1}", "expected true or false, got 1"),
        ("{rabbit_retry_interval: 0}", "expected at least 1, got 0"),
        ("{kombu_failover_strategy: shufle}", "did you mean 'shuffle'?"),
        ("{heartbeat_rate: [1, 1]}", "expected a value, or a list of different ones"),
        ("{heartbeat_rate: []}", "expected a value, or a list of different ones"),
        ("{heartbeat_rate: {a: 1}, use_queue_manager: true}", "expected a whole number"),
        ("{processname: nova}", "each process has a name of its own"),
        ("{ssl: true}", "the system's setting tls"),
        ("{rabbit_stream_fanout: [false, true]}", "without rabbit_transient_quorum_queue"),
        (
            "{rabbit_stream_fanout: true, rabbit_transient_quorum_queue: true}",
            "without rabbit_qos_prefetch_count",
        ),
        ("{rabbit_quorum_delivery_limit: 3}", "without rabbit_quorum_queue"),
        (
            "{rabbit_ha_queues: true, rabbit_quorum_queue: [false, true]}",
            "cannot be mirrored as well",
        ),
        ("[1]", "expected a mapping of keys to values"),
    ],
)
def test_an_invalid_option_is_refused(driver: str, words: str) -> None:
    """The error has file, line and option, before anything starts."""
    error = refused(driver)
    assert words in error
    assert error.startswith("plan.yaml:7: load.driver")


@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_options_and_kinds_of_queue_do_not_contradict(kind: str) -> None:
    """Options that set the kind of queue are allowed with declared queues only."""
    error = refused("{rabbit_quorum_queue: true}", declared=kind)
    assert "rabbit_quorum_queue says itself what queues are: say queues: [declared]" in error
    assert plan("{heartbeat_rate: 2}", declared=kind).cases()


@pytest.mark.parametrize("generator", ["amqp-0-9-1", "compute-nodes", "rpc-chain"])
def test_other_loads_have_no_such_options(generator: str) -> None:
    """Options are refused, and so are declared queues."""
    load = f"generator: {generator}\n  duration_s"
    assert "has no options of a driver" in refused("{heartbeat_rate: 2}", duration_s=load)
    assert "it has no options that say what they are" in refused("{}", duration_s=load)


def test_a_background_load_has_no_options() -> None:
    """Options of a driver belong to the measured load."""
    beside = (
        "background: [{test_case: notify, green_threads: 1, driver: {heartbeat_rate: 2}}]\nload"
    )
    assert "background entry 1.driver" in refused("{}", load=beside)


def test_options_reach_the_configuration() -> None:
    """They are spelled as oslo.config does, and override those of mqperf."""
    [case] = plan("{rpc_conn_pool_size: 7, use_queue_manager: true}").cases()
    section = options(case, ACCESS, "127.0.0.1")["oslo_messaging_rabbit"]
    assert section == {"rpc_conn_pool_size": "7", "use_queue_manager": "true"}


def test_streams_need_a_broker_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the points with streams are refused."""
    stream = "rabbit_stream_fanout: [false, true], rabbit_transient_quorum_queue: true"
    swept = plan(f"{{{stream}, rabbit_qos_prefetch_count: 1}}")
    monkeypatch.setattr(VersionSettings, "obtainable", lambda *_: "3.8.9")
    from mqperf.hosts import Hosts, LocalHost
    from mqperf.lab.systems.possible import possible

    here: Possible = possible(swept, Hosts.alone(LocalHost()))
    refusals = [here.refusal(case) for case in here.plan.cases()]
    assert refusals[0] is None
    assert "has no streams" in str(refusals[1])


def test_a_plan_of_python_is_checked_as_well() -> None:
    """No program can start a load that its driver refuses."""
    with pytest.raises(PlanError, match="no such option"):
        check_plan(parse_plan(TEXT.replace("DRIVER", "{no_such: 1}"), Path("plan.yaml")))


def test_the_table_is_of_the_locked_releases() -> None:
    """Each option that may be swept is a column with a meaning."""
    assert {name: one["release"] for name, one in DRIVERS.items()} == {
        name: releases.RELEASES[name].version for name in DRIVERS
    }
    assert all(COLUMNS[name].parameter and COLUMNS[name].meaning for name in OPTIONS)
