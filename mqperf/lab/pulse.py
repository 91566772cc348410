"""The pulse of a sweep: a look at its run every second, in a thread of its own."""

import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from mqperf.base.errors import MqperfError
from mqperf.lab.runner import Gauge, Reading
from mqperf.plan import Case
from mqperf.plan.test_cases import TestCase

PERIOD_S = 1.0
KEPT = 3_600
"""Beats of a run that are kept: those of its last hour."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What happened since the beat before; ``at_s`` counts from the start of the window."""

    at_s: float
    rate_msg_s: float | None
    one_way_s: float | None
    cores: Mapping[str, float]


@dataclass(slots=True)
class Scene:
    """The run that is looked at: what it is called, how long its window is, and its beats.

    ``unit`` is what it counts, ``heard`` of which latency its servers tell.
    """

    title: str
    unit: str
    heard: str
    window_s: float = 0.0
    beats: deque[Beat] = field(default_factory=lambda: deque(maxlen=KEPT))

    @property
    def last(self) -> Beat | None:
        """The latest beat."""
        return self.beats[-1] if self.beats else None


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that has ended; ``figures`` are those of its tables, by column, if it has any."""

    case: Case
    failed: bool
    figures: Mapping[str, object]


class Pulse:
    """Looks at one run after the other; ``scene`` is that of the present one, or of the last.

    ``doing`` is what the sweep does now; ``case`` is that of the run that is looked at, and
    ``todo`` are those of all that have not ended.  A host that does not answer is none of its
    business: the runner says so.
    """

    def __init__(self, period_s: float = PERIOD_S) -> None:
        """Begin with nothing to look at."""
        self._period_s = period_s
        self.scene: Scene | None = None
        self.doing = ""
        self.case: Case | None = None
        self.todo: list[Case] = []
        self.ended: list[Ended] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, title: str, gauge: Gauge, test_case: TestCase) -> None:
        """Look at a run of a test case from now on."""
        self.leave()
        self.scene = Scene(title, test_case.unit, test_case.heard)
        self._stop = threading.Event()
        words = (self.scene, gauge, self._stop)
        self._thread = threading.Thread(target=self._look, args=words, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Look no longer; the scene stays."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(self._period_s)
            self._thread = None

    def _look(self, scene: Scene, gauge: Gauge, stop: threading.Event) -> None:
        before: Reading | None = None
        while not stop.wait(self._period_s):
            with suppress(MqperfError, OSError, ValueError):
                now = gauge.read()
                scene.window_s = now.window_s
                if before is not None:
                    rate, one_way = now.rate_msg_s(before), now.one_way_s(before)
                    scene.beats.append(Beat(now.at_s, rate, one_way, now.cores))
                before = now
