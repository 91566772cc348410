"""Faults planted in what is recorded of nodes, checksums and seal made right again.

Each contradicts the messages, the topology, the logs or the time of the run, and must be named.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from file_faults import Fault, all_of, facts, lines, probe, sealed

from mqperf.record import Run, runs
from mqperf.study import tables
from mqperf.study.stats import checks

pytestmark = pytest.mark.takes_long

INSIDE = Path(__file__).parents[2] / "data/samples/inside"
ROUTERS = INSIDE / "transfers/qpid-dispatch-line-routed-transfer-t0002-p1-r1-8def34dd"
BROKER = INSIDE / "transfers/artemis-single-classic-transfer-t0002-p1-r1-613cc594"
RABBIT = INSIDE / "rabbitmq/rabbitmq-cmsm-classic-rpc-cast-t0005-p1-r1-19b55f1a"
LOG = "probes/local/inside.jsonl"

Json = Any


def states_changed(change: Callable[[Json], object]) -> Fault:
    """A change of what nodes told, answer by answer."""

    def each(answers: list[Json]) -> None:
        for line in answers:
            change(line["told"])

    return lines(LOG, each)


def silenced(attribute: str) -> Fault:
    """Routers and their addresses tell 0 of this."""

    def change(answer: Json) -> None:
        for entity in ("router", "router.address"):
            place = answer[entity]["names"].index(attribute)
            for row in answer[entity]["rows"]:
                row[place] = 0

    return states_changed(change)


def queued(messages: int) -> Fault:
    """Every queue of Artemis holds so many."""

    def change(answer: Json) -> None:
        for queue in answer["artemis"].values():
            queue["MessageCount"] = messages

    return states_changed(change)


def without(node: str) -> Fault:
    """What a node told is gone."""
    return lines(LOG, lambda answers: [line for line in answers if line["node"] != node])


def moved(seconds: float) -> Fault:
    """All instants are some seconds later."""

    def change(answers: list[Json]) -> None:
        for line in answers:
            line["epoch"] += seconds
            line["monotonic"] += seconds

    return lines(LOG, change)


def erased(node: str) -> Fault:
    """A node is nowhere in the facts, nor in what probes wrote."""

    def change(run: Json) -> None:
        nodes = run["system"]["nodes"]
        run["system"]["nodes"] = [other for other in nodes if other["label"] != node]
        del run["kinds"][node]

    def unwatched(_number: int, line: Json) -> None:
        del line["processes"][node]

    return all_of(facts(change), probe(unwatched), without(node))


def unlogged(log: str) -> Fault:
    """A log of a node is not there."""
    return lambda run: (run / "broker" / log).unlink()


PLANTED: Mapping[str, tuple[str, Path, Fault]] = {
    "routers delivered nothing": (
        r"21498 messages were received in 3 s, nodes counted 0 sent meanwhile \(node\)",
        ROUTERS,
        silenced("deliveriesEgress"),
    ),
    "routers were given nothing": (
        r"nodes counted 0 received meanwhile \(address\)",
        ROUTERS,
        silenced("deliveriesIngress"),
    ),
    "50,000 wait throughout": (
        "nodes told of 100000 messages that wait in them at 3 s, and at most 1886 were under way",
        BROKER,
        queued(50_000),
    ),
    "a router tells nothing": ("it tells of R1, R3, and nothing of R2", ROUTERS, without("R2")),
    "the Master tells nothing": (
        "it tells of Slave 1, Slave 2, and nothing of Master",
        RABBIT,
        without("Master"),
    ),
    "all instants are later": (r"inside.jsonl: ends 5.0 s after the load", ROUTERS, moved(5)),
    "one instant is later": (
        "inside.jsonl: the wall clock was set by 0.400 s during the load",
        ROUTERS,
        lines(LOG, lambda answers: answers[2].update(epoch=answers[2]["epoch"] + 0.4)),
    ),
    "all instants are earlier": (r"inside.jsonl: begins 5.0 s before", ROUTERS, moved(-5)),
}
"""What is wrong -> what ``record-disagrees`` must say, the run, the fault."""


def texts(run: Run) -> dict[str, str]:
    """The doubts about this run, by kind."""
    doubted = checks.doubts(tables.of_runs([run]))
    return dict(zip(doubted["kind"], doubted["text"], strict=True))


def damaged(folder: Path, sample: Path, fault: Fault) -> Run:
    """A copy of the run, with the fault and sealed."""
    copy = folder / sample.name
    shutil.copytree(sample, copy)
    fault(copy)
    sealed(copy)
    return Run(copy, copy.name, "done")


@pytest.mark.parametrize("folder", ["rabbitmq", "transfers"])
def test_sound_nodes_are_believed(folder: str) -> None:
    """Queues that grow, routers that drop two thirds, and a broker that takes in late."""
    by_run = [texts(run) for run in runs(INSIDE / folder)]
    assert by_run
    assert not any({"record-disagrees", "missing-node"} & {*by_kind} for by_kind in by_run)


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_fault_is_named(tmp_path: Path, what: str) -> None:
    """With what contradicts it."""
    says, sample, fault = PLANTED[what]
    assert re.search(says, texts(damaged(tmp_path, sample, fault))["record-disagrees"])


def test_nodes_are_asked_on_when_all_is_sent(tmp_path: Path) -> None:
    """A load by count ends before its plan, as it is noticed: questions until then are no fault."""

    def ended(run: Json) -> None:
        run["window"]["end"] -= 2
        run["all_sent"] = {"first_s": 2.9, "last_s": 2.9}

    by_kind = texts(damaged(tmp_path, ROUTERS, facts(ended)))
    assert LOG not in by_kind.get("record-disagrees", "")


def test_a_doubt_that_vanishes_leaves_another(tmp_path: Path) -> None:
    """Of a router that dropped messages at another time nothing is left but that time."""
    assert "presettled-dropped" in texts(Run(ROUTERS, ROUTERS.name, "done"))
    by_kind = texts(damaged(tmp_path, ROUTERS, moved(5)))
    assert "presettled-dropped" not in by_kind
    assert "record-disagrees" in by_kind


def test_an_erased_router_is_missed(tmp_path: Path) -> None:
    """By its log, and without that by the topology."""
    by_kind = texts(damaged(tmp_path / "a", ROUTERS, erased("R3")))
    assert "broker/r3.log: run.json knows no node whose log it is" in by_kind["record-disagrees"]
    without_log = all_of(erased("R3"), unlogged("r3.log"), unlogged("r3-router.conf"))
    by_kind = texts(damaged(tmp_path / "b", ROUTERS, without_log))
    assert "of R3, and the topology line has the nodes R1, R2, R3" in by_kind["missing-node"]


def test_an_erased_node_of_a_cluster_is_missed(tmp_path: Path) -> None:
    """By its log, as no topology says how many there are."""
    by_kind = texts(damaged(tmp_path, RABBIT, erased("Slave 2")))
    assert "broker/node3.log: run.json knows no node" in by_kind["record-disagrees"]


def test_less_than_nothing_is_unreadable(tmp_path: Path) -> None:
    """With file and second; the run keeps its point, and is not missed."""
    run = damaged(tmp_path, BROKER, queued(-5))
    frames = tables.of_runs([run, Run(ROUTERS, ROUTERS.name, "done")])
    row = frames["runs"].set_index("run").loc[run.id]
    assert "local/inside.jsonl: Broker tells of -10 messages of queues at 3 s" in row["failure"]
    assert row["point"]


def test_less_than_nothing_for_a_moment_is_readable(tmp_path: Path) -> None:
    """Brokers count without locks: one such answer spoils none of the others."""

    def change(answers: list[Json]) -> None:
        for queue in answers[1]["told"]["artemis"].values():
            queue["MessageCount"] = -1

    assert "unreadable-run" not in texts(damaged(tmp_path, BROKER, lines(LOG, change)))
