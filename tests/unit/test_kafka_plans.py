"""Plans for Kafka, and the configuration of its brokers and clients; nothing is started."""

from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.load import LAUNCHERS, Access, Endpoint
from mqperf.lab.load.oslo.drivers import options, transport_url
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf_java.lab.servers import Peers
from mqperf_kafka.lab import brokers
from mqperf_kafka.lab.kafka import LABELS

TEXT = """\
systems:
  kafka: {topologies: [single], queues: [topic]}
test_cases: [notify]
load:
  green_threads: 1
  duration_s: 1
"""
CASE = Case(
    system="kafka",
    topology="single",
    queues="topic",
    test_case="notify",
    green_threads=1,
    processes=2,
    duration_s=1,
)


def refused(text: str) -> str:
    with pytest.raises(PlanError) as error:
        parse_plan(text, Path("plan.yaml"), problems_of)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "test_case"),
    [
        ("test_cases: [notify, rpc-call]", "rpc-call"),
        ("test_cases: [rpc-cast]", "rpc-cast"),
        ("test_cases: [rpc-fanout]", "rpc-fanout"),
        ("title: all that there are", "rpc-call"),
        (
            "test_cases: [notify]\nbackground: [{test_case: rpc-cast, green_threads: 1}]",
            "rpc-cast",
        ),
    ],
    ids=["among others", "cast", "fan-out", "by default", "beside"],
)
def test_what_the_driver_cannot_do_is_refused(change: str, test_case: str) -> None:
    """The error has the line of the system, the test case and the reason."""
    assert refused(TEXT.replace("test_cases: [notify]", change)) == (
        f"plan.yaml:2: systems.kafka: no {test_case} with Kafka: oslo.messaging's driver for Kafka"
        " has notifications alone: plan notify"
    )


def test_notifications_are_no_problem() -> None:
    """Neither alone nor beside other notifications."""
    beside = "[notify]\nbackground: [{test_case: notify, green_threads: 1}]"
    for text in (TEXT, TEXT.replace("[notify]", beside)):
        assert parse_plan(text, Path("plan.yaml"), problems_of).cases()


def test_other_loads_and_queues_are_refused() -> None:
    """Kafka has only topics, and only the simulator can use it."""
    assert "Kafka has no kind of queue 'classic'; it has: topic" in refused(
        TEXT.replace("topic]", "classic]")
    )
    assert "cannot talk to Kafka" in refused(TEXT.replace("load:", "load:\n  generator: amqp-1.0"))


def test_options_of_the_driver_are_axes() -> None:
    """Options of Kafka's driver vary; those that mqperf sets itself are refused."""
    swept = TEXT + "  driver: {producer_batch_timeout: [0, 0.005]}\n"
    cases = parse_plan(swept, Path("plan.yaml"), problems_of).cases()
    broker = Endpoint("kafka", ("127.0.0.1:1",))
    [_, batched] = [options(case, Access(broker, broker), "127.0.0.1") for case in cases]
    assert batched == {"oslo_messaging_kafka": {"producer_batch_timeout": "0.005"}}
    assert "each run has a group of its own" in refused(TEXT + "  driver: {consumer_group: mine}\n")
    assert "has no such option" in refused(TEXT + "  driver: {heartbeat_rate: 2}\n")


def test_all_brokers_and_the_group_are_in_the_url() -> None:
    """In the format of oslo.messaging."""
    endpoint = Endpoint("kafka", ("127.0.0.1:1", "127.0.0.1:2"), query="consumer_group=run-1")
    assert transport_url(endpoint) == "kafka://127.0.0.1:1,127.0.0.1:2?consumer_group=run-1"


def test_a_run_has_a_topic_for_each_server() -> None:
    """Notifications have a topic for each server, or one that all servers share."""
    queues = LAUNCHERS["simulator"].queues
    assert queues(CASE, "run") == ["run-1.info", "run-2.info"]
    assert queues(CASE.model_copy(update={"parameters": {"targets": "shared"}}), "run") == [
        "run.info"
    ]


def test_three_brokers_are_a_quorum_of_which_two_confirm(tmp_path: Path) -> None:
    """Each has all voters, a port for clients and one for controllers, on its address."""
    host_folder = HostFolder(LocalHost(), tmp_path)
    places = brokers.places(LABELS["any-node"], [host_folder] * 3, (1, 2, 3))
    group = Peers(places, (4, 5, 6))
    second = brokers.configuration(group, 1)
    assert second["controller.quorum.voters"] == "1@127.0.0.1:4,2@127.0.0.1:5,3@127.0.0.1:6"
    assert second["listeners"] == "PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:5"
    assert (second["default.replication.factor"], second["min.insync.replicas"]) == (3, 2)
    assert second["log.dirs"] == tmp_path / "broker2" / "data"


def test_one_broker_confirms_alone(tmp_path: Path) -> None:
    """There are no other replicas."""
    places = brokers.places(LABELS["single"], [HostFolder(LocalHost(), tmp_path)], (1,))
    alone = brokers.configuration(Peers(places, (2,)), 0)
    assert (alone["default.replication.factor"], alone["min.insync.replicas"]) == (1, 1)
