"""Real traffic: messages published to a RabbitMQ are captured, and replayed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pika.exceptions
import pytest
from one_rabbitmq import PikaChannel, channel, master_of, used_by_sweeps
from patience import eventually

from mqperf.base.errors import TableError
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.pages.questions import answers
from mqperf.pages.sections.forms import plain
from mqperf.plan.file import read_plan
from mqperf.study import stats, tables
from mqperf_numbered.onhost.broker import Broker
from mqperf_traffic.lab import firehose
from mqperf_traffic.lab.counting import Counting
from mqperf_traffic.lab.firehose import Firehose
from mqperf_traffic.plan.profile import Profile, write

pytestmark = pytest.mark.needs_rabbitmq

EXCHANGE, QUEUES = "amq.direct", {"both": ("a", "b"), "one": ("a",), "nowhere": ()}
"""The exchange for all messages, and the queues that are bound by each routing key."""

PUBLISHED = (*[("both", 0)] * 20, *[("one", 40)] * 10, *[("nowhere", 7)] * 5)
"""Routing key and length of every message."""

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [publish]
load:
  generator: traffic
  traffic_file: profile.json
  traffic_scale: 3
  green_threads: 1
  processes: 2
  acks: multiple
  duration_s: 4
  warmup_s: 1
"""


@pytest.fixture(scope="module")
def broker(rabbitmq: PrivateCluster) -> Iterator[Broker]:
    """A node with tracing enabled."""
    node = rabbitmq._cluster.node_names[0]
    rabbitmq._rabbitmqctl.call(node, "trace_on", "-p", "/")
    yield master_of(rabbitmq)
    rabbitmq._rabbitmqctl.call(node, "trace_off", "-p", "/")


@contextmanager
def publishing(broker: Broker) -> Iterator[PikaChannel]:
    """A channel to publish on, while its queues exist."""
    with channel(broker) as theirs:
        for queue in ("a", "b"):
            theirs.queue_declare(queue, exclusive=True, arguments={"x-max-length": 1})
        for key, queues in QUEUES.items():
            for queue in queues:
                theirs.queue_bind(queue, EXCHANGE, key)
        yield theirs
        for queue in ("a", "b"):  # RabbitMQ 4.3 does so some time after the connection ends
            theirs.queue_delete(queue)


@pytest.fixture(scope="module")
def profile(broker: Broker) -> Profile:
    """The captured profile of those messages."""
    with publishing(broker) as theirs:
        copies, counted = Firehose(broker), Counting(3)
        for key, length in PUBLISHED:
            theirs.basic_publish(EXCHANGE, key, bytes(length))
        copies.capture(counted, lambda: None)
    return counted.profile(
        names=True, complete=not copies.dropped, most_waiting=copies.most_waiting
    )


def test_a_capture_has_what_was_published(profile: Profile) -> None:
    """By route, with queues and lengths; unroutable messages are counted separately."""
    routes = [
        (route.exchange, route.routing_key, route.queues, route.lengths) for route in profile.routes
    ]
    assert routes == [(EXCHANGE, "both", 2, ((0, 20),)), (EXCHANGE, "one", 1, ((40, 10),))]
    assert (profile.messages, profile.unroutable, profile.complete) == (30, 5, True)


def test_what_the_broker_drops_is_noticed(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile is marked incomplete, and both queues of the capture are deleted."""
    monkeypatch.setattr(firehose, "MOST_WAITING", 10)
    with publishing(broker) as theirs:
        copies = Firehose(broker)
        for _ in range(500):
            theirs.basic_publish(EXCHANGE, "one", bytes(100_000))
        copies.capture(Counting(1), lambda: None)
    assert copies.dropped
    assert eventually(lambda: not _is_there(broker, copies.queue))
    assert eventually(lambda: not _is_there(broker, copies.overflow))


def _is_there(broker: Broker, queue: str) -> bool:
    try:
        with channel(broker) as theirs:
            theirs.queue_declare(queue, passive=True)
    except pika.exceptions.ChannelClosedByBroker as error:
        return bool(error.reply_code != 404)
    return True


@pytest.fixture(scope="module")
def runs(
    rabbitmq: PrivateCluster, profile: Profile, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a replay by two processes, with three messages for each captured message."""
    folder = tmp_path_factory.mktemp("replayed")
    write(profile, folder / "profile.json")
    (folder / "plan.yaml").write_text(PLAN)
    file = read_plan(folder / "plan.yaml", problems_of)
    with used_by_sweeps(rabbitmq):
        sweep(file.plan, file.text, folder / "runs", Silent())
    return folder / "runs"


def frames(folder: Path) -> dict[str, pd.DataFrame]:
    return stats.complete(tables.read(folder))


def test_a_replay_is_that_of_its_profile(runs: Path) -> None:
    """All messages of all routes, once per queue: 6 s of load replay the 3 s twice."""
    found = frames(runs)
    [counts], [row] = (found[name].to_dict("records") for name in ("messages", "traffic"))
    deliveries = 3 * 2 * sum(len(QUEUES[key]) for key, _ in PUBLISHED)
    assert (counts["sent"], counts["received"]) == (deliveries, deliveries)
    assert [counts[name] for name in ("lost", "duplicates", "foreign", "errors")] == [0] * 4
    assert (row["routes"], row["routes_off"], row["length_distance"]) == (2, 0, 0)
    [[sentence]] = [answer.sentences for answer in answers(found, ["traffic"])]
    assert plain(sentence).startswith("PUBLISH: ")
    off = found["traffic"].assign(seconds_off=1, routes_off=2)
    [[sentence]] = [answer.sentences for answer in answers({**found, "traffic": off}, ["traffic"])]
    total = row["seconds"]
    assert f"1 of {total} seconds and 2 of 2 routes not as recorded" in plain(sentence)
    disagreements = "" if pd.isna(counts["disagreements"]) else counts["disagreements"]
    assert not any(word in disagreements for word in ("due", "routes", "lengths"))


def test_another_profile_and_other_lengths_are_noticed(runs: Path) -> None:
    """Both are planted into the record of a sound run."""
    [load] = runs.glob("*/load")
    diaries = {file: file.read_text() for file in load.glob("server-*.json")}
    for file, text in diaries.items():
        file.write_text(text.replace('"bytes 40"', '"bytes 41"'))
    assert "lengths that were received differ" in frames(runs)["messages"]["disagreements"].item()
    for file, text in diaries.items():
        file.write_text(text)
    copy = load / "client-1.traffic"
    copy.write_text(json.dumps(json.loads(copy.read_text()) | {"unroutable": 6}))
    with pytest.raises(TableError, match="another profile than the plan's"):
        frames(runs)
