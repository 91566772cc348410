"""Several processes that are ended together, some of them where nobody answers any more."""

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
    """A process that notes what it is told in ``told``, or is on a host that is lost."""

    def __init__(self, label: str, told: list[tuple[str, str]], *, lost: bool = False) -> None:
        self.label, self.told, self.lost = label, told, lost

    def signal(self, number: signal.Signals) -> None:
        self._note(number.name)

    def stop(self, grace_s: float) -> int:
        assert grace_s <= 5
        self._note("stop")
        return 0

    def _note(self, what: str) -> None:
        if self.lost:
            raise HostLost("h1 was lost")
        self.told.append((self.label, what))


def test_the_loss_of_one_host_keeps_no_other_process_from_being_ended() -> None:
    """In their order, and the loss is told at the end."""
    told: list[tuple[str, str]] = []
    processes = [
        Started("one", told),
        Started("gone", told, lost=True),
        Started("two", told),
    ]
    with pytest.raises(HostLost, match="h1 was lost"):
        stop_all(cast("list[Process]", processes), grace_s=5)
    asked = [(label, what) for label in ("one", "two") for what in ("SIGTERM", "SIGCONT")]
    assert told == [*asked, ("one", "stop"), ("two", "stop")]


def test_processes_of_several_hosts_have_one_time_to_end() -> None:
    """All are asked before any is waited for."""
    told: list[tuple[str, str]] = []
    processes = Processes(lambda: None)
    for name in ("h1", "h2"):
        host = Starting(name, told)
        processes.start(cast("Host", host), f"client of {name}", ("sleep",), Path("log"))
    processes.stop()
    assert [label for label, what in told if what == "SIGTERM"] == ["client of h1", "client of h2"]
    assert [what for _, what in told[-2:]] == ["stop", "stop"]


class Starting:
    """A host that starts nothing real."""

    def __init__(self, name: str, told: list[tuple[str, str]]) -> None:
        self.name, self.told = name, told

    def start(self, label: str, *_arguments: object, **_more: object) -> Started:
        return Started(label, self.told)
