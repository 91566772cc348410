"""The simulator's waits, with this module in its place: two functions that sleep."""

import sys
import time
from types import ModuleType

import pytest

from mqperf.onhost.load.simulator.waits import replace, telling


def send_messages() -> float:
    """Waits twice, as each thread of the simulator does."""
    time.sleep(0.002)
    time.sleep(0.001)
    return time.time()


def other() -> None:
    """Waits, too."""
    time.sleep(0.003)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """This one, which has its own clock back afterwards."""
    here = sys.modules[__name__]
    monkeypatch.setattr(here, "time", time)
    return here


def test_one_function_waits_in_another_way(module: ModuleType) -> None:
    """The others sleep as before, and the time of day is the same."""
    waited: list[float] = []
    replace(module, "send_messages", waited.append)
    began = time.time()
    other()
    assert waited == []
    assert send_messages() >= began + 0.003
    assert waited == [0.002, 0.001]


def test_who_waits_for_all_threads_is_told_once(module: ModuleType) -> None:
    """When the last of two has sent all: each waits before its first message and after its last."""
    told: list[str] = []
    replace(module, "send_messages", telling(2, lambda: told.append("sent")))
    send_messages()
    assert told == []
    send_messages()
    assert told == ["sent"]
