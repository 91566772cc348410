"""Several processes are stopped together, some of them on a lost host."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from mqperf.base.errors import HostLost
from mqperf.hosts import stop_all
from mqperf.lab.runner.processes import Processes

if TYPE_CHECKING:
    from mqperf.hosts import Host, Process


class Started:
    """A process that logs its signals in ``log``, or is on a host that is lost."""

    def __init__(self, label: str, log: list[tuple[str, str]], *, lost: bool = False) -> None:
        self.label, self.log, self.lost = label, log, lost

    def signal(self, number: signal.Signals) -> None:
        self._note(number.name)

    def stop(self, grace_s: float) -> int:
        assert grace_s <= 5
        self._note("stop")
        return 0

    def _note(self, what: str) -> None:
        if self.lost:
            raise HostLost("h1 was lost")
        self.log.append((self.label, what))


def test_the_loss_of_one_host_keeps_no_other_process_from_being_ended() -> None:
    """The others are stopped in order, and the loss is raised at the end."""
    log: list[tuple[str, str]] = []
    processes = [
        Started("one", log),
        Started("gone", log, lost=True),
        Started("two", log),
    ]
    with pytest.raises(HostLost, match="h1 was lost"):
        stop_all(cast("list[Process]", processes), grace_s=5)
    signals = [(label, what) for label in ("one", "two") for what in ("SIGTERM", "SIGCONT")]
    assert log == [*signals, ("one", "stop"), ("two", "stop")]


def test_processes_of_several_hosts_have_one_time_to_end() -> None:
    """All are signalled before any is waited for."""
    log: list[tuple[str, str]] = []
    processes = Processes(lambda: None)
    for name in ("h1", "h2"):
        host = Starting(name, log)
        processes.start(cast("Host", host), f"client of {name}", ("sleep",), Path("log"))
    processes.stop()
    assert [label for label, what in log if what == "SIGTERM"] == ["client of h1", "client of h2"]
    assert [what for _, what in log[-2:]] == ["stop", "stop"]


class Starting:
    """A host that starts no real process."""

    def __init__(self, name: str, log: list[tuple[str, str]]) -> None:
        self.name, self.log = name, log

    def start(self, label: str, *_arguments: object, **_more: object) -> Started:
        return Started(label, self.log)
