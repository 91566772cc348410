"""Consumers that reject messages: plans, the choice of messages, and consistency of records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numbered_runs import START, read_back
from stamped import stamped

from mqperf.base.errors import PlanError
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.study import tables
from mqperf.study.stats import checks, complete
from mqperf_amqp_0_9_1.onhost.dead_letters import STREAM, arguments, check
from mqperf_amqp_0_9_1.onhost.deliveries import Batch
from mqperf_amqp_0_9_1.onhost.rejections import REDELIVERED, REJECTED, Rejections
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.tally import Tally

PLAN = """\
systems: {{rabbitmq: {{topologies: [cmsm], queues: [{0}]}}}}
test_cases: [publish]
load: {{generator: amqp-0-9-1, green_threads: 1, duration_s: 1, {1}}}
"""
SENT, SHARE, LIMIT = 400, 0.5, 2


# rejections in plans


@pytest.mark.parametrize(
    ("queues", "load", "words"),
    [
        ("quorum", "reject_share: 0", "reject_share"),
        ("quorum", "acks: each, reject_share: 1.1", "reject_share"),
        ("quorum", "reject_share: 0.1", "say acks: multiple, or acks: each"),
        ("quorum", "acks: [each, auto], reject_share: 0.1", "say acks: multiple, or acks: each"),
        ("quorum", "acks: each, reject_share: [0.5, 1]", "delivered for ever"),
        ("quorum", "acks: each, delivery_limit: 3", "give reject_share, too"),
        ("quorum", "acks: each, reject_share: 0.1, dead_letters: at-least-once", "no message dies"),
        ("quorum", "acks: each, reject_share: 0.1, delivery_limit: -1", "delivery_limit"),
        (
            "quorum",
            "acks: each, reject_share: 1, delivery_limit: 0, dead_letters: at-most-once, ttl_ms: 9",
            "leave out ttl_ms",
        ),
        ("classic", "acks: each, reject_share: 0.1, delivery_limit: 3", "plan quorum queues"),
        ("stream", "acks: each, reject_share: 0.1", "leave out reject_share"),
    ],
)
def test_impossible_rejections_are_refused(queues: str, load: str, words: str) -> None:
    """The error names the key, before anything starts."""
    with pytest.raises(PlanError, match=words):
        parse_plan(PLAN.format(queues, load), Path("test.yaml"), problems_of)


@pytest.mark.parametrize(
    ("queues", "load"),
    [
        ("classic", "reject_share: 0.5"),
        ("quorum", "reject_share: 1, delivery_limit: 0"),
        ("quorum", "reject_share: [0.1, 0.5], delivery_limit: 3, dead_letters: at-most-once"),
        ("ha", "reject_share: 0.5, delivery_limit: 3, dead_letters: at-least-once"),
    ],
)
def test_all_other_rejections_are_planned(queues: str, load: str) -> None:
    """One share or several are accepted."""
    text = PLAN.format(queues, f"acks: multiple, {load}")
    assert parse_plan(text, Path("test.yaml"), problems_of).cases()


def case(**parameters: object) -> Case:
    fixed = {"acks": "each", "reject_share": SHARE, "delivery_limit": LIMIT}
    values = {
        "system": "rabbitmq",
        "topology": "single",
        "queues": "quorum",
        "test_case": "publish",
        "generator": "amqp-0-9-1",
        "green_threads": 1,
        "duration_s": 2,
        "warmup_s": 1,
        "parameters": fixed | parameters,
    }
    return Case.model_validate(values)


def test_queues_of_dead_letters_are_removed_with_the_others() -> None:
    """There is one per queue if the plan has dead letters; existing brokers would keep them."""
    launcher = LAUNCHERS["amqp-0-9-1"]
    bound = launcher.queues(case(copies=2), "run")
    assert bound == ["run.000001.0001", "run.000001.0002"]
    assert launcher.queues(case(copies=2, dead_letters="at-least-once"), "run") == [
        *bound,
        "run.000001.0001.dead",
        "run.000001.0002.dead",
    ]


def test_queues_dead_letter_as_planned() -> None:
    """At-least-once dead-lettering needs queues that refuse publishers when full."""
    assert arguments("q", None, None) == {}
    assert arguments("q", 0, None) == {"x-delivery-limit": 0}
    once = arguments("q", 3, "at-most-once")
    assert once == {
        "x-delivery-limit": 3,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "q.dead",
        "x-dead-letter-strategy": "at-most-once",
    }
    least = arguments("q", 3, "at-least-once")
    assert least["x-dead-letter-strategy"] == "at-least-once"
    assert {*least.items()} - {*once.items()} >= {("x-overflow", "reject-publish")}


def test_old_brokers_dead_letter_at_most_once() -> None:
    """At-least-once is refused before RabbitMQ 3.10; an unknown version is accepted."""
    check("at-least-once", (3, 10))
    check("at-least-once", (4, 0))
    check("at-least-once", ())
    check("at-most-once", (3, 8))
    check(None, (3, 8))
    with pytest.raises(Refused, match=r"RabbitMQ 3.9 passes dead letters on at most once"):
        check("at-least-once", (3, 9))


# the choice of messages


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_a_share_of_deliveries_is_rejected_and_no_dead_letter(share: float) -> None:
    """Rejected and redelivered messages are counted."""
    diary, count = Diary("amqp-0-9-1", "server-1", "server"), 10_000
    places = np.arange(count)
    batch = Batch(places, places, stamped(count), places, places % 4 == 0, 256)
    dead = places % 2 == 1
    rejected = Rejections(share, 7, diary).chosen(batch, dead)
    assert not (rejected & dead).any()
    assert rejected.sum() == pytest.approx(share * count / 2, rel=0.1)
    assert diary.counts == {REJECTED: rejected.sum(), REDELIVERED: count / 4}


# consistency of records


@dataclass
class Server:
    """The received numbers, those of dead letters, and the counts of a server."""

    received: list[int] = field(default_factory=list)
    dead: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def sound() -> Server:
    """Each message is delivered until it is accepted or reaches the delivery limit."""
    record, chance = Server(counts={REJECTED: 0, REDELIVERED: 0}), np.random.default_rng(1)
    for number in range(SENT):
        record.received.append(number)
        for delivery in range(LIMIT + 1):
            record.counts[REDELIVERED] += delivery > 0
            if chance.random() >= SHARE:
                break
            record.counts[REJECTED] += 1
        else:
            record.dead.append(number)
    assert 20 < len(record.dead) < 100
    return record


def recorded(folder: Path, record: Server, planned: Case) -> tables.Tables:
    """The tables of a run with this record of the server; its client sent 400 messages."""
    numbers = np.arange(SENT)
    client = Tally("client-1", "client", "publish", START, ["sent", "error"])
    client.add("sent", "client-1.1", numbers, START + 1 + numbers / SENT)
    server = Tally("server-1", "server", "publish", START, ["received", STREAM])
    for stream, seen in (("received", record.received), (STREAM, record.dead)):
        instants = START + 1 + np.array(seen) / SENT
        server.add(stream, "client-1.1", np.array(seen), instants, instants + 0.1)
    return read_back(folder, planned, (client, {}), (server, record.counts))


def checked(folder: Path, record: Server, **parameters: object) -> tuple[str, pd.Series, set[str]]:
    """The disagreement, the row of the table, and the kinds of doubts about messages."""
    frames = recorded(folder, record, case(dead_letters="at-least-once", **parameters))
    [disagreements] = frames["messages"]["disagreements"].fillna("")
    kinds = set(checks.doubts(complete(frames))["kind"])
    messages = {"lost", "duplicates", "record-disagrees", "received-not-sent"}
    return disagreements, frames["rejections"].iloc[0], kinds & messages


def test_rejections_that_add_up_are_not_accused(tmp_path: Path) -> None:
    """Every message is accepted or a dead letter, and the table counts both."""
    record = sound()
    disagreements, row, kinds = checked(tmp_path, record)
    assert (disagreements, kinds) == ("", set())
    assert row["accepted"] + row["dead_lettered"] == SENT
    assert row["dead_lettered"] == row["rejected"] - row["redelivered"] == len(record.dead)
    assert row["lost"] == 0
    assert row["dead_letter_p50_s"] == pytest.approx(0.1, rel=0.01)


def test_dropped_messages_are_lost_and_were_rejected(tmp_path: Path) -> None:
    """Without a dead-letter queue the loss is a doubt, but no record disagrees."""
    record = sound()
    kept = [number for number in record.received if number not in record.dead]
    disagreements, row, kinds = checked(tmp_path, Server(kept, [], record.counts))
    assert (disagreements, kinds) == ("", {"lost"})
    assert row["lost"] == len(record.dead)


def lacking_one(record: Server) -> None:
    record.dead.pop()


def accepted_too(record: Server) -> None:
    record.received.append(record.dead[0])


def not_received(record: Server) -> None:
    record.received.remove(record.dead[0])


def dead_too_soon(record: Server) -> None:
    more = (LIMIT + 1) * len(record.dead) - record.counts[REJECTED] - 1
    record.counts = {name: count + more for name, count in record.counts.items()}


def rejected_more(record: Server) -> None:
    record.counts = {name: count + SENT for name, count in record.counts.items()}


FAULTS: Mapping[Callable[[Server], None], tuple[str, set[str]]] = {
    lacking_one: ("redelivered + ", {"record-disagrees"}),
    accepted_too: ("1 dead letters were accepted, too", {"record-disagrees", "duplicates"}),
    not_received: ("1 dead letters are not among", {"record-disagrees", "lost"}),
    dead_too_soon: ("dead letters take 3 rejections each", {"record-disagrees"}),
    rejected_more: ("deliveries rejected, no share of 0.5", {"record-disagrees"}),
}


@pytest.mark.takes_long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_rejections_that_do_not_add_up_are_found(
    tmp_path: Path, fault: Callable[[Server], None]
) -> None:
    """The rule for each fault finds it, whatever else is then wrong."""
    record = sound()
    fault(record)
    words, expected = FAULTS[fault]
    disagreements, _, kinds = checked(tmp_path, record)
    assert words in disagreements
    assert kinds == expected


def test_redelivery_after_a_lost_connection_is_valid(tmp_path: Path) -> None:
    """A redelivery without a rejection is valid, even if its dead letter was accepted too."""
    record = sound()
    accepted_too(record)
    record.counts |= {"disconnected": 1, REDELIVERED: record.counts[REDELIVERED] + 30}
    disagreements, _, kinds = checked(tmp_path, record)
    assert (disagreements, kinds) == ("", {"duplicates"})


def test_runs_without_rejections_have_no_row(tmp_path: Path) -> None:
    """Their consumers never reject."""
    record = Server([*range(SENT)], [], {})
    planned = case().model_copy(update={"parameters": {"acks": "each"}})
    assert recorded(tmp_path, record, planned)["rejections"].empty
