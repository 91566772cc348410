"""Actions on their timetable, with a real process in the place of a node."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mqperf.errors import RecordError, SystemFault
from mqperf.guarded import Process
from mqperf.hosts import ForeignProcess, LocalHost
from mqperf.plan import ActionPlan
from mqperf.runner.timetable import Timetable
from mqperf.systems import Node

FREEZE = ActionPlan(do="freeze", node="Master", at_s=0.0, for_s=0.2)
PATIENCE_S = 10


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """A process with a child, as broker nodes are."""
    argv = ["/bin/sh", "-c", "sleep 60 & wait"]
    running = LocalHost().start("node", argv, log=tmp_path / "log")
    while not running._tree()[1:]:
        time.sleep(0.01)
    yield running
    running.stop(grace_s=0)


class Told(list[tuple[str, float]]):
    """What happened, and by how much it was late."""

    def __call__(self, what: str, **more: object) -> None:
        commanded, observed = more["commanded"], more["observed"]
        assert isinstance(commanded, float)
        assert isinstance(observed, float)
        self.append((what, observed - commanded))


def frozen(process: Process, expected: int) -> bool:
    """Whether so many of its processes stand still, once each has noticed what it was told."""
    limit = time.monotonic() + PATIENCE_S
    while True:
        time.sleep(0.05)
        found = sum(one.status() == "stopped" for one in process._tree())
        if found == expected or time.monotonic() > limit:
            return found == expected


def test_a_node_is_frozen_as_a_whole_and_goes_on(process: Process) -> None:
    """Every process of it, and no action is taken before its instant."""
    told = Told()
    timetable = Timetable([FREEZE], [Node("Master", "mq1", process)], told)
    timetable.check()
    timetable.act()
    assert told == []
    timetable.begin(time.time())
    timetable.act()
    assert frozen(process, 2)
    assert timetable.disturbed == {"Master"}
    while timetable.due < float("inf"):
        timetable.act()
    assert frozen(process, 0)
    assert timetable.disturbed == set()
    assert [what for what, _ in told] == ["action-began", "action-ended"]
    assert all(late >= 0 for _, late in told)


def test_what_was_begun_is_undone_whatever_happens(process: Process) -> None:
    """A run that fails meanwhile leaves no node frozen, and begins no more actions."""
    later = FREEZE.model_copy(update={"at_s": 0.3})
    timetable = Timetable([FREEZE, later], [Node("Master", "mq1", process)], Told())
    timetable.begin(time.time())
    timetable.act()
    assert frozen(process, 2)
    timetable.close()
    assert frozen(process, 0)
    time.sleep(0.4)
    timetable.act()
    assert frozen(process, 0)
    timetable.close()


def test_every_node_goes_on_though_nothing_can_be_written_down(process: Process) -> None:
    """The folder may be gone, or the disk full: each is undone all the same."""
    nodes = [Node(label, label, process) for label in ("Master", "Slave 1")]
    both = [FREEZE, FREEZE.model_copy(update={"node": "Slave 1"})]
    undone: list[str] = []

    def tell(what: str, **more: object) -> None:
        if what == "action-ended":
            undone.append(str(more["node"]))
            raise RecordError("the disk is full")

    timetable = Timetable(both, nodes, tell)
    timetable.begin(time.time())
    timetable.act()
    with pytest.raises(RecordError):
        timetable.close()
    assert sorted(undone) == ["Master", "Slave 1"]
    assert frozen(process, 0)
    assert timetable.disturbed == set()


def test_a_node_that_there_is_not_is_named(process: Process) -> None:
    """Before anything is measured, with those that there are."""
    timetable = Timetable([FREEZE], [Node("Redis", "redis", process)], Told())
    with pytest.raises(SystemFault, match="freeze: the system has no node 'Master'; it has: Redis"):
        timetable.check()


def test_processes_of_others_are_not_signalled() -> None:
    """The nodes of an existing cluster are watched and left alone."""
    foreign = ForeignProcess("Master", 1, 0.0)
    with pytest.raises(SystemFault, match="freeze: Master was not started by mqperf"):
        Timetable([FREEZE], [Node("Master", "mq1", foreign)], Told()).check()
