"""Faults planted in records of nodes, with checksums and seal recomputed.

Each contradicts messages, topology, logs or time of the run, and must give a doubt.
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
    """Changes the reply of nodes in each answer."""

    def each(answers: list[Json]) -> None:
        for line in answers:
            change(line["told"])

    return lines(LOG, each)


def silenced(attribute: str) -> Fault:
    """Routers and their addresses report 0 for this attribute."""

    def change(answer: Json) -> None:
        for entity in ("router", "router.address"):
            place = answer[entity]["names"].index(attribute)
            for row in answer[entity]["rows"]:
                row[place] = 0

    return states_changed(change)


def queued(messages: int) -> Fault:
    """Every queue of Artemis has this many messages."""

    def change(answer: Json) -> None:
        for queue in answer["artemis"].values():
            queue["MessageCount"] = messages

    return states_changed(change)


def without(node: str) -> Fault:
    """Removes the answers of a node."""
    return lines(LOG, lambda answers: [line for line in answers if line["node"] != node])


def moved(seconds: float) -> Fault:
    """Shifts all times by some seconds."""

    def change(answers: list[Json]) -> None:
        for line in answers:
            line["epoch"] += seconds
            line["monotonic"] += seconds

    return lines(LOG, change)


def erased(node: str) -> Fault:
    """Removes a node from the facts and from the logs of probes."""

    def change(run: Json) -> None:
        nodes = run["system"]["nodes"]
        run["system"]["nodes"] = [other for other in nodes if other["label"] != node]
        del run["kinds"][node]

    def unwatched(_number: int, line: Json) -> None:
        del line["processes"][node]

    return all_of(facts(change), probe(unwatched), without(node))


def unlogged(log: str) -> Fault:
    """Removes the log of a node."""
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
        "nodes reported 100000 messages waiting in them at 3 s, and at most 1886 were under way",
        BROKER,
        queued(50_000),
    ),
    "a router tells nothing": ("it reports R1, R3, and not R2", ROUTERS, without("R2")),
    "the Master tells nothing": (
        "it reports Slave 1, Slave 2, and not Master",
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
"""Fault -> pattern of the text of ``record-disagrees``, run, function that plants it."""


def texts(run: Run) -> dict[str, str]:
    """The texts of doubts about this run, by kind."""
    doubted = checks.doubts(tables.of_runs([run]))
    return dict(zip(doubted["kind"], doubted["text"], strict=True))


def damaged(folder: Path, sample: Path, fault: Fault) -> Run:
    """A sealed copy of the run with the fault."""
    copy = folder / sample.name
    shutil.copytree(sample, copy)
    fault(copy)
    sealed(copy)
    return Run(copy, copy.name, "done")


@pytest.mark.parametrize("folder", ["rabbitmq", "transfers"])
def test_sound_nodes_are_believed(folder: str) -> None:
    """Growing queues, routers that drop two thirds, and a slow broker."""
    by_run = [texts(run) for run in runs(INSIDE / folder)]
    assert by_run
    assert not any({"record-disagrees", "missing-node"} & {*by_kind} for by_kind in by_run)


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_fault_is_named(tmp_path: Path, what: str) -> None:
    """The doubt names the contradiction."""
    pattern, sample, fault = PLANTED[what]
    assert re.search(pattern, texts(damaged(tmp_path, sample, fault))["record-disagrees"])


def test_nodes_are_asked_on_when_all_is_sent(tmp_path: Path) -> None:
    """A load by count ends early; answers until it is noticed are valid."""

    def ended(run: Json) -> None:
        run["window"]["end"] -= 2
        run["all_sent"] = {"first_s": 2.9, "last_s": 2.9}

    by_kind = texts(damaged(tmp_path, ROUTERS, facts(ended)))
    assert LOG not in by_kind.get("record-disagrees", "")


def test_a_doubt_that_vanishes_leaves_another(tmp_path: Path) -> None:
    """With shifted times the doubt about dropped messages is gone, but the shift is doubted."""
    assert "presettled-dropped" in texts(Run(ROUTERS, ROUTERS.name, "done"))
    by_kind = texts(damaged(tmp_path, ROUTERS, moved(5)))
    assert "presettled-dropped" not in by_kind
    assert "record-disagrees" in by_kind


def test_an_erased_router_is_missed(tmp_path: Path) -> None:
    """By its log, or by the topology if the log is removed, too."""
    by_kind = texts(damaged(tmp_path / "a", ROUTERS, erased("R3")))
    assert "broker/r3.log: run.json knows no node whose log it is" in by_kind["record-disagrees"]
    without_log = all_of(erased("R3"), unlogged("r3.log"), unlogged("r3-router.conf"))
    by_kind = texts(damaged(tmp_path / "b", ROUTERS, without_log))
    assert "of R3, although the topology line has the nodes R1, R2, R3" in by_kind["missing-node"]


def test_an_erased_node_of_a_cluster_is_missed(tmp_path: Path) -> None:
    """By its log: the topology does not fix the number of nodes."""
    by_kind = texts(damaged(tmp_path, RABBIT, erased("Slave 2")))
    assert "broker/node3.log: run.json knows no node" in by_kind["record-disagrees"]


def test_a_negative_count_is_unreadable(tmp_path: Path) -> None:
    """A negative count is an error with file and second; the run keeps its point."""
    run = damaged(tmp_path, BROKER, queued(-5))
    frames = tables.of_runs([run, Run(ROUTERS, ROUTERS.name, "done")])
    row = frames["runs"].set_index("run").loc[run.id]
    assert "local/inside.jsonl: Broker reports -10 messages of queues at 3 s" in row["failure"]
    assert row["point"]


def test_a_single_negative_count_is_readable(tmp_path: Path) -> None:
    """Brokers count without locks, so a single negative value is tolerated."""

    def change(answers: list[Json]) -> None:
        for queue in answers[1]["told"]["artemis"].values():
            queue["MessageCount"] = -1

    assert "unreadable-run" not in texts(damaged(tmp_path, BROKER, lines(LOG, change)))
