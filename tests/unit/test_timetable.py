"""Actions on their timetable, with a real process as a node."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from mqperf.base.errors import RecordError, SystemFault
from mqperf.base.processes import ForeignProcess, Process
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner.timetable import Stage, Timetable
from mqperf.lab.systems import Deployment, Node
from mqperf.lab.systems.private import Servers
from mqperf.lab.systems.service import Server
from mqperf.onhost.machine import proc
from mqperf.plan import ActionPlan

FREEZE = ActionPlan(do="freeze", node="Master", at_s=0.0, for_s=0.2)
PATIENCE_S = 60


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """A process with a child, like a broker node."""
    argv = ["/bin/sh", "-c", "sleep 60 & wait"]
    running = LocalHost().start("node", argv, log=tmp_path / "log")
    while not proc.tree(running.pid)[1:]:
        time.sleep(0.01)
    yield running
    running.stop(grace_s=0)


def up(*nodes: Node) -> Stage:
    """A running system with these nodes."""

    class System:
        def __init__(self) -> None:
            self.nodes = nodes

        def check(self) -> None:
            """All is well."""

    return Stage(cast("Deployment", System()))


class RecordedEvents(list[tuple[str, float]]):
    """The events and their delays."""

    def __call__(self, what: str, **more: object) -> None:
        commanded, observed = more["commanded"], more["observed"]
        assert isinstance(commanded, float)
        assert isinstance(observed, float)
        self.append((what, observed - commanded))


def frozen(process: Process, expected: int) -> bool:
    """Whether this number of its processes is stopped, once signals have taken effect."""
    limit = time.monotonic() + PATIENCE_S
    while True:
        time.sleep(0.05)
        stopped = sum(map(proc.frozen, proc.tree(process.pid)))
        if stopped == expected or time.monotonic() > limit:
            return stopped == expected


@pytest.mark.starts_programs
def test_a_node_is_frozen_as_a_whole_and_goes_on(process: Process) -> None:
    """All its processes are frozen, and no action begins before its instant."""
    events = RecordedEvents()
    timetable = Timetable([FREEZE], up(Node("Master", "mq1", process)), events)
    timetable.check()
    timetable.act()
    assert events == []
    timetable.begin(time.time())
    timetable.act()
    assert frozen(process, 2)
    assert timetable.disturbed == {"Master"}
    while timetable.due < float("inf"):
        timetable.act()
    assert frozen(process, 0)
    assert timetable.disturbed == set()
    assert [what for what, _ in events] == ["action-began", "action-ended"]
    assert all(late >= 0 for _, late in events)


@pytest.mark.starts_programs
def test_what_was_begun_is_undone_whatever_happens(process: Process) -> None:
    """After a failed run no node is frozen, and no further action begins."""
    later = FREEZE.model_copy(update={"at_s": 0.3})
    timetable = Timetable([FREEZE, later], up(Node("Master", "mq1", process)), RecordedEvents())
    timetable.begin(time.time())
    timetable.act()
    assert frozen(process, 2)
    timetable.close()
    assert frozen(process, 0)
    time.sleep(0.4)
    timetable.act()
    assert frozen(process, 0)
    timetable.close()


@pytest.mark.starts_programs
def test_actions_are_undone_even_if_no_event_is_written(process: Process) -> None:
    """Even if events cannot be written, as on a full disk, each action is undone."""
    nodes = [Node(label, label, process) for label in ("Master", "Slave 1")]
    both = [FREEZE, FREEZE.model_copy(update={"node": "Slave 1"})]
    undone: list[str] = []

    def tell(what: str, **more: object) -> None:
        if what == "action-ended":
            undone.append(str(more["node"]))
            raise RecordError("the disk is full")

    timetable = Timetable(both, up(*nodes), tell)
    timetable.begin(time.time())
    timetable.act()
    with pytest.raises(RecordError):
        timetable.close()
    assert sorted(undone) == ["Master", "Slave 1"]
    assert frozen(process, 0)
    assert timetable.disturbed == set()


@pytest.mark.starts_programs
@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_node_is_ended_and_started_again(tmp_path: Path, how: str) -> None:
    """It restarts by the same command; its absence meanwhile is not a fault."""
    script = "echo serving; exec sleep 60"
    argv, host_folder = ("/bin/sh", "-c", script), HostFolder(LocalHost(), tmp_path / "node")
    servers = Servers("Example")
    try:
        servers.start(
            [Server("Master", "mq1", host_folder, argv, {}, ("serving",), ("taken",))], 10
        )
        action, events = FREEZE.model_copy(update={"do": how}), RecordedEvents()
        timetable = Timetable([action], Stage(cast("Deployment", servers)), events)
        timetable.check()
        [before] = servers.nodes
        timetable.begin(time.time())
        timetable.act()
        assert timetable.disturbed == {"Master"}
        while timetable.due < float("inf"):
            servers.check()
            timetable.act()
        [after] = servers.nodes
        assert after.process is not None
        assert after.process.alive
        assert before.process is not None
        assert not before.process.alive
        assert [what for what, _ in events] == ["action-began", "action-ended"]
    finally:
        servers.stop()


def test_a_node_that_cannot_be_started_again_is_not_ended() -> None:
    """A process that mqperf did not start is not touched."""
    foreign = ForeignProcess("Master", 1, 0.0)
    action = FREEZE.model_copy(update={"do": "kill"})
    with pytest.raises(SystemFault, match="kill: Master was not started by mqperf, which could"):
        Timetable([action], up(Node("Master", "mq1", foreign)), RecordedEvents()).check()


@pytest.mark.starts_programs
def test_a_missing_node_is_named(process: Process) -> None:
    """The error lists the existing nodes, and comes before anything is measured."""
    timetable = Timetable([FREEZE], up(Node("Redis", "redis", process)), RecordedEvents())
    with pytest.raises(SystemFault, match="freeze: the system has no node 'Master'; it has: Redis"):
        timetable.check()


def test_processes_of_others_are_not_signalled() -> None:
    """The nodes of an existing cluster are watched, but not touched."""
    foreign = ForeignProcess("Master", 1, 0.0)
    with pytest.raises(SystemFault, match="freeze: Master was not started by mqperf"):
        Timetable([FREEZE], up(Node("Master", "mq1", foreign)), RecordedEvents()).check()


class Cable:
    """Logs the calls to a link; integration tests use real links."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def cut(self) -> None:
        self.calls.append("cut")

    def swallow(self) -> None:
        self.calls.append("swallow")

    def beyond(self, quantities: Mapping[str, float]) -> str | None:
        return "too much" if quantities.get("jitter_s") else None

    def impair(self, quantities: Mapping[str, float]) -> None:
        self.calls.append(f"impair {dict(quantities)}")

    def restore(self) -> None:
        self.calls.append("restore")


def test_the_link_is_interrupted_and_restored() -> None:
    """Each action calls the link; no node counts as disturbed, and a failed run restores it."""
    first = ActionPlan(do="disconnect", link=True, at_s=0.0, for_s=0.1)
    second = ActionPlan(do="impair", link=True, at_s=0.1, for_s=0.1, delay_s=0.3)
    third = ActionPlan(do="black-hole", link=True, at_s=0.2, for_s=60)
    events, cable = RecordedEvents(), Cable()
    timetable = Timetable([first, second, third], up(), events)
    timetable.link = cable
    timetable.check()
    timetable.begin(time.time())
    limit = time.monotonic() + PATIENCE_S
    while cable.calls[-1:] != ["swallow"] and time.monotonic() < limit:
        timetable.act()
        assert timetable.disturbed == set()
    timetable.close()
    undone = "restore"
    assert cable.calls == ["cut", undone, "impair {'delay_s': 0.3}", undone, "swallow", undone]
    assert [what for what, _ in events] == ["action-began", "action-ended"] * 3


def test_an_impairment_that_the_link_cannot_have_is_told() -> None:
    """The error comes before anything is measured."""
    action = ActionPlan(do="impair", link=True, at_s=0.0, for_s=0.1, jitter_s=1.0)
    timetable = Timetable([action], up(), RecordedEvents())
    timetable.link = Cable()
    with pytest.raises(SystemFault, match="impair: too much"):
        timetable.check()


def test_a_link_that_cannot_be_interrupted_is_told() -> None:
    """The error comes before anything is measured."""
    action = ActionPlan(do="disconnect", link=True, at_s=0.0, for_s=0.1)
    with pytest.raises(SystemFault, match="link is made by a backend that cannot interrupt it"):
        Timetable([action], up(), RecordedEvents()).check()
