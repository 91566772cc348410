"""The simulator at an offered rate: when its threads send, by a clock that the test controls."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from types import ModuleType

import pytest

from mqperf.onhost.load.control import Control
from mqperf.onhost.load.simulator import __main__ as shim
from mqperf.onhost.load.simulator import pace
from mqperf.onhost.load.simulator.clients import Gate
from mqperf.onhost.load.simulator.pace import LOOK_S, Pace, Turns, keep_to

START = 1000.0


@dataclass
class Clock:
    """Replaces the module ``time``."""

    now: float = START
    slept: list[float] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(pace, "time", clock)
    return clock


def test_threads_of_all_processes_take_turns() -> None:
    """Together they are as regular as one thread, and none drifts."""
    both = [Pace([8.0], all_threads=4, first=first) for first in (0, 2)]
    dues = [list(islice(paced.dues(thread, START), 1000)) for paced in both for thread in (0, 1)]
    assert dues[3][:2] == [START + 3 / 8, START + 7 / 8]
    assert sorted(chain(*dues)) == [START + number / 8 for number in range(4000)]


def test_steps_follow_each_other_without_a_gap() -> None:
    """Steps are equally long; the last one continues."""
    pace = Pace([2.0, 4.0], all_threads=2, first=0, step_s=3.0)
    both = sorted(due - START for thread in (0, 1) for due in islice(pace.dues(thread, START), 9))
    assert both[:6] == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    assert both[6:] == pytest.approx([3.0 + number / 4 for number in range(12)])


class Client:
    """Sends like the simulator's clients; its first message takes ``first_s`` seconds."""

    def __init__(self, simulator: ModuleType, clock: Clock, first_s: float) -> None:
        self.simulator, self.clock, self.first_s = simulator, clock, first_s
        self.seq = 0

    def send_msg(self) -> None:
        message = self.simulator.make_message(self.seq, "abc", self.clock.time())
        self.simulator.sent.append(message)
        self.clock.now += 0.0 if self.seq else self.first_s
        self.seq += 1


def simulator(clock: Clock) -> ModuleType:
    """A module with the simulator's functions that the shim wraps."""
    module = ModuleType("simulator")

    def make_message(seq: float, cargo: str, client_ts: float) -> tuple[float, str, float]:
        return (seq, cargo, client_ts)

    def send_messages(_: int, build: Callable[[], Client], _messages: int, load_s: float) -> None:
        client, end = build(), clock.now + load_s
        while clock.now < end and module.IS_RUNNING:
            client.send_msg()

    vars(module).update(
        make_message=make_message, send_messages=send_messages, sent=[], IS_RUNNING=True
    )
    return module


def sent(clock: Clock, folder: Path, first_s: float = 0.0) -> ModuleType:
    """The simulator after a load of 1 s at 4 messages a second."""
    module, gate = simulator(clock), Gate(Control(folder, "client-1"), 1)
    gate.start = START
    keep_to(Pace([4.0], all_threads=1, first=0), module, gate)
    module.send_messages(0, lambda: Client(module, clock, first_s), 1, 1)
    return module


def test_messages_carry_when_they_were_due_and_sent(clock: Clock, tmp_path: Path) -> None:
    """They replace the simulator's own timestamp and its sequence number."""
    clock.now = START - 0.5
    module = sent(clock, tmp_path)
    assert module.sent == [(START + at, "abc", START + at) for at in (0, 0.25, 0.5, 0.75)]
    assert not module.IS_RUNNING
    assert clock.now == START + 1


def test_late_messages_are_sent_at_once(clock: Clock, tmp_path: Path) -> None:
    """A first message of 0.6 s delays two others; the last is on time again."""
    module = sent(clock, tmp_path, first_s=0.6)
    assert [message[2] - START for message in module.sent] == [0, 0.25, 0.5, 0.75]
    late = [round(message[0] - message[2], 9) for message in module.sent]
    assert late == [0, 0.35, 0.1, 0]


def test_what_is_due_at_the_end_is_never_sent(clock: Clock, tmp_path: Path) -> None:
    """A thread that is blocked until then skips its remaining messages."""
    assert len(sent(clock, tmp_path, first_s=1.0).sent) == 1


def test_a_long_wait_can_be_interrupted(clock: Clock) -> None:
    """A thread that waits long for its next message can be stopped meanwhile."""
    turns = Turns(iter([START + 2 * LOOK_S, START + 60]), START + 100)
    assert [turns.take() for _ in range(3)] == [None, START + 2 * LOOK_S, None]
    assert clock.slept == [LOOK_S] * 3
    assert not turns.ended


@pytest.mark.parametrize(
    ("kind", "test_case", "streams"),
    [
        ("client", "rpc-call", ["sent", "round_trip", "error", "service", "handover"]),
        ("server", "rpc-call", ["received"]),
        ("client", "notify", ["sent", "error", "handover"]),
        ("server", "notify", ["received", "service"]),
    ],
)
def test_both_parts_of_a_latency_are_recorded(
    kind: str, test_case: str, streams: list[str]
) -> None:
    """They are recorded where the latency ends; without a rate there are none."""
    options = ["--simulator", "s.py", "--label", "one", "--kind", kind, "--test-case", test_case]
    options += ["--control", "c", "--messages", "m"]
    flood, _ = shim._parse([*options, "--"])
    paced, _ = shim._parse([*options, "--rates", "10,20.5", "--"])
    assert shim._streams(paced) == streams
    assert shim._streams(flood) == [name for name in streams if name not in {"service", "handover"}]
