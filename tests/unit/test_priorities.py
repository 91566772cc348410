"""Messages of two priorities: valid plans, which are urgent, and contradictory records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numbered_runs import START, read_back

from mqperf.base.errors import PlanError
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.load.launcher import Access, Endpoint
from mqperf.lab.systems.in_plans import problems_of
from mqperf.pages.sections.forms import plain
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.plan.topologies import TOPOLOGIES
from mqperf.study import tables
from mqperf.study.stats import complete
from mqperf_amqp_0_9_1.onhost.priorities import (
    HIGH,
    LOW,
    QUORUM,
    URGENT,
    USUAL,
    check,
    with_priorities,
)
from mqperf_amqp_0_9_1.onhost.urgent import urgent
from mqperf_amqp_0_9_1.pages.priorities import ANSWERING
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.messages import drawn
from mqperf_numbered.onhost.tally import Tally

PLAN = """\
systems: {{rabbitmq: {{topologies: [cmsm], queues: [{0}]}}}}
test_cases: [publish]
load: {{generator: amqp-0-9-1, green_threads: 1, duration_s: 2, warmup_s: 1, acks: each, {1}}}
"""
SHARE, SENT = 0.1, 1000


# valid plans


@pytest.mark.parametrize(
    ("queues", "parameter", "words"),
    [
        ("classic", "urgent_share: 0", "urgent_share"),
        ("classic", "urgent_share: 1", "urgent_share"),
        ("stream", "urgent_share: 0.1", "leave out urgent_share"),
    ],
)
def test_queues_without_priorities_are_refused(queues: str, parameter: str, words: str) -> None:
    """The error has the key, before anything starts."""
    with pytest.raises(PlanError, match=words):
        parse_plan(PLAN.format(queues, parameter), Path("test.yaml"), problems_of)


def test_quorum_queues_have_priorities_from_rabbitmq_4_on() -> None:
    """Earlier versions would ignore them; an unknown version is accepted."""
    check(SHARE, QUORUM, (4, 0))
    check(SHARE, QUORUM, ())
    check(SHARE, {}, (3, 10))
    check(None, QUORUM, (3, 10))
    with pytest.raises(Refused, match=r"RabbitMQ 3\.13 have no priorities"):
        check(SHARE, QUORUM, (3, 13))


def case(**parameters: object) -> Case:
    fields = {
        "system": "rabbitmq",
        "topology": "single",
        "queues": "classic",
        "test_case": "publish",
        "generator": "amqp-0-9-1",
        "green_threads": 1,
        "duration_s": 2,
        "warmup_s": 1,
        "parameters": parameters,
    }
    return Case.model_validate(fields)


@pytest.mark.parametrize(
    ("queues", "share", "most"),
    [("classic", SHARE, str(HIGH)), ("classic", None, None), ("quorum", SHARE, None)],
)
def test_classic_queues_are_declared_with_their_levels(
    queues: str, share: float | None, most: str | None
) -> None:
    """Quorum queues always have two levels."""
    parameters = {} if share is None else {"urgent_share": share}
    planned = case(**parameters).model_copy(update={"queues": queues})
    broker = Endpoint("amqp", ("127.0.0.1:5672",), "user", "secret")
    access = Access.by(TOPOLOGIES["single"], broker)
    options = LAUNCHERS["amqp-0-9-1"].options(planned, access, "")
    assert options["queue"].get("x-max-priority") == most


# which messages are urgent


@pytest.mark.parametrize("mix", [[], [(0.7, 256), (0.3, 4096)]])
def test_publisher_and_consumer_agree_on_what_is_urgent(mix: list[tuple[float, int]]) -> None:
    """For any lengths, orders and numbers of senders."""
    forms = with_priorities(mix, SHARE, 256)
    numbers, sender = np.arange(10_000), np.arange(10_000) % 3
    levels = np.array([priority for _, _, priority in forms])
    sent = np.empty(len(numbers), dtype=int)
    for number in range(3):
        own = sender == number
        sent[own] = levels[drawn(numbers[own], number, [part for part, _, _ in forms])]
    assert ((sent == HIGH) == urgent(numbers, sender, SHARE)).all()
    assert (sent == HIGH).mean() == pytest.approx(SHARE, abs=0.002)
    assert {*sent} == {HIGH, LOW}


def test_without_a_share_nothing_has_a_priority() -> None:
    """Messages differ by their lengths only."""
    assert with_priorities([], None, 256) == [(1.0, 256, None)]
    mix = [(0.7, 256), (0.3, 4096)]
    assert with_priorities(mix, None, 947) == [(0.7, 256, None), (0.3, 4096, None)]


# contradictory records


@dataclass
class Numbers:
    """The numbers of messages that a server received, and recorded by priority."""

    received: list[int]
    urgent: list[int]
    usual: list[int]


def sound(count: int = SENT) -> Numbers:
    numbers = np.arange(count)
    chosen = urgent(numbers, numbers * 0, SHARE)
    return Numbers([*numbers], [*numbers[chosen]], [*numbers[~chosen]])


def recorded(folder: Path, received: Numbers, planned: Case) -> tables.Tables:
    """The tables of a run with latencies of 10 ms for urgent and 500 ms for other messages."""
    numbers = np.arange(SENT)
    client = Tally("client-1", "client", "publish", START, ["sent", "error"])
    client.add("sent", "client-1.1", numbers, START + 1 + numbers / SENT)
    streams = (
        ["received", URGENT, USUAL] if planned.parameters.get("urgent_share") else ["received"]
    )
    server = Tally("server-1", "server", "publish", START, streams)
    seen = {"received": received.received, URGENT: received.urgent, USUAL: received.usual}
    for stream in streams:
        each = np.array(seen[stream], dtype=np.int64)
        due = START + 1 + each / SENT
        took = np.where(np.isin(each, received.urgent), 0.01, 0.5)
        server.add(stream, "client-1.1", each, due, due + took)
    return read_back(folder, planned, (client, {}), (server, {}))


def test_each_priority_has_its_latency(tmp_path: Path) -> None:
    """The record is consistent, and the answer has both latencies."""
    frames = recorded(tmp_path, sound(), case(urgent_share=SHARE))
    assert frames["messages"]["disagreements"].isna().all()
    rows = frames["priorities"].set_index("urgency")
    assert rows["of_priority"].to_dict() == {URGENT: len(sound().urgent), USUAL: len(sound().usual)}
    assert rows["latency_p50_s"].to_dict() == pytest.approx({URGENT: 0.01, USUAL: 0.5}, rel=0.01)
    value = ANSWERING.answer(complete(frames))
    assert value is not None
    [sentence] = [plain(text) for text in value.sentences]
    assert "10 ms for urgent messages, 500 ms for usual ones" in sentence


def test_too_few_messages_give_no_latency(tmp_path: Path) -> None:
    """A median needs enough messages of each priority."""
    value = ANSWERING.answer(complete(recorded(tmp_path, sound(12), case(urgent_share=SHARE))))
    assert value is not None
    assert "no result" in plain(value.sentences[0])


def lacking_one(received: Numbers) -> None:
    received.usual.pop()


def exchanged(received: Numbers) -> None:
    received.urgent, received.usual = received.usual, received.urgent


FAULTS: Mapping[Callable[[Numbers], None], str] = {
    lacking_one: "usual, but 1000 received",
    exchanged: "urgent, no share of 0.1",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_priorities_that_do_not_add_up_are_found(
    tmp_path: Path, fault: Callable[[Numbers], None]
) -> None:
    """The record has a disagreement."""
    received = sound()
    fault(received)
    [found] = recorded(tmp_path, received, case(urgent_share=SHARE))["messages"]["disagreements"]
    assert FAULTS[fault] in found


def test_messages_without_priorities_have_no_row(tmp_path: Path) -> None:
    """Nor are they checked."""
    frames = recorded(tmp_path, sound(), case())
    assert frames["priorities"].empty
    assert pd.isna(frames["messages"]["disagreements"]).all()
