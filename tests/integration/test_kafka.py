"""A real Kafka: every notification is accounted for, and nothing is left afterwards."""

from pathlib import Path

import psutil
import pytest
from killed import nothing_outlives
from listeners import listening
from typing_extensions import override

from mqperf.lab.runner import Silent, sweep
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.record import runs
from mqperf.study import stats, tables

pytestmark = pytest.mark.needs_java

PLAN = """\
systems:
  kafka: {topologies: [single, any-node], queues: [topic]}
test_cases: [notify]
load:
  green_threads: 2
  processes: 2
  targets: [own, shared]
  rate_msg_s: 100
  duration_s: 3
  warmup_s: 1
"""
LABELS = {"single": {"Broker"}, "any-node": {"Broker 1", "Broker 2", "Broker 3"}}


class BrokerRecorder(Silent):
    """Records the brokers that run while a case is measured, and where they listen."""

    def __init__(self) -> None:
        self.brokers: set[psutil.Process] = set()
        self.addresses: set[str] = set()

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if what == "measuring":
            family = psutil.Process().children(recursive=True)
            brokers = {process for process in family if process.name() == "java"}
            self.brokers |= brokers
            self.addresses |= {address for broker in brokers for address in listening(broker)}


@pytest.fixture(scope="module")
def recorder() -> BrokerRecorder:
    """What was recorded while the sweep was measured."""
    return BrokerRecorder()


@pytest.fixture(scope="module")
def measured(recorder: BrokerRecorder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with one and with three brokers, for servers with own topics and a shared topic."""
    folder = tmp_path_factory.mktemp("kafka")
    outcome = sweep(parse_plan(PLAN, Path("test.yaml")), PLAN, folder, recorder)
    assert (outcome.done, outcome.failed) == (4, ())
    return folder


def test_no_message_is_lost(measured: Path) -> None:
    """Also the first messages, which the driver itself would skip."""
    messages = tables.read(measured)["messages"]
    assert len(messages) == 4
    assert (messages["sent"] > 0).all()
    assert (messages["received"] == messages["sent"]).all()
    assert (messages[["lost", "errors", "duplicates"]] == 0).all(axis=None)
    doubts = stats.complete(tables.read(measured))["doubts"]
    suspicious = {"received-not-sent", "lost", "missing-process", "failed-run", "record-disagrees"}
    assert not suspicious & set(doubts["kind"])


def test_the_record_is_whole(measured: Path) -> None:
    """It has versions, configuration and memory of each node; removed topics log no errors."""
    for run in runs(measured):
        assert run.damaged() == []
        case, system = run.facts().case, run.facts().system
        assert (system.title, system.version) == ("Kafka", "4.1.0")
        assert {node.label for node in system.nodes} == LABELS[case.topology if case else ""]
        assert all((node.rss_bytes or 0) > 1_000_000 for node in system.nodes)
        logs = "\n".join(log.read_text() for log in run.path.glob("broker/*.log"))
        errors = [line for line in logs.splitlines() if " ERROR " in line]
        # a controller that does not lead yet refuses requests of nodes that start
        assert [line for line in errors if "[ControllerApis" not in line] == []


OWNER = """
    import json, sys
    from mqperf.hosts import LocalHost, HostFolder
    from mqperf.lab.systems import SYSTEMS

    host, settings = LocalHost(), {"topology": "single"}
    with (
        host.scratch("test") as folder,
        SYSTEMS["kafka"].start(settings, [HostFolder(host, folder)]) as running,
    ):
        pids = [node.process.pid for node in running.nodes]
        print(json.dumps({"folder": str(folder), "pids": pids}), flush=True)
        sys.stdin.read()
"""


def test_kafka_dies_with_its_owner() -> None:
    """A SIGKILL of mqperf leaves no process and no folder."""
    assert nothing_outlives(OWNER, processes=1)


@pytest.mark.usefixtures("measured")
def test_all_listen_on_loopback_only(recorder: BrokerRecorder) -> None:
    """For clients and other brokers, with one broker and three; afterwards none runs."""
    assert len(recorder.brokers) == 1 + 3
    assert recorder.addresses
    assert recorder.addresses <= {"127.0.0.1", "::ffff:127.0.0.1"}
    assert not any(map(psutil.Process.is_running, recorder.brokers))
