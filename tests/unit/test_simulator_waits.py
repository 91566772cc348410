"""The simulator's waits, with this module in place of the simulator: two functions sleep."""

import sys
import time
from types import ModuleType

import pytest

from mqperf.onhost.load.simulator.waits import replace, telling


def send_messages() -> float:
    """Wait twice, as each thread of the simulator does."""
    time.sleep(0.002)
    time.sleep(0.001)
    return time.time()


def other() -> None:
    """Wait once."""
    time.sleep(0.003)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """This module, whose clock is restored afterwards."""
    here = sys.modules[__name__]
    monkeypatch.setattr(here, "time", time)
    return here


def test_one_function_waits_in_another_way(module: ModuleType) -> None:
    """Other functions sleep as before, and the time of day is unchanged."""
    waited: list[float] = []
    replace(module, "send_messages", waited.append)
    began = time.time()
    other()
    assert waited == []
    assert send_messages() >= began + 0.003
    assert waited == [0.002, 0.001]


def test_the_callback_after_all_threads_runs_once(module: ModuleType) -> None:
    """The callback runs when the last of two threads has sent all; each waits first and last."""
    calls: list[str] = []
    replace(module, "send_messages", telling(2, lambda: calls.append("sent")))
    send_messages()
    assert calls == []
    send_messages()
    assert calls == ["sent"]
