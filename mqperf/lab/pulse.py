"""The pulse of a sweep: a reading of the current run every second, in a background thread."""

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
"""Maximum number of beats per run: those of its last hour."""


@dataclass(frozen=True, slots=True)
class Beat:
    """Rates since the previous beat; ``at_s`` counts from the start of the window."""

    at_s: float
    rate_msg_s: float | None
    one_way_s: float | None
    cores: Mapping[str, float]


@dataclass(slots=True)
class Scene:
    """The observed run: its title, the length of its window, and its beats.

    ``unit`` is what is counted, ``heard`` the latency that its servers report.
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
    """A run that has ended; ``figures`` are the values of its tables, by column, if any."""

    case: Case
    failed: bool
    figures: Mapping[str, object]


class Pulse:
    """Observes one run after the other; ``scene`` is that of the current or the last run.

    ``doing`` is the current phase of the sweep; ``case`` is that of the observed run, and ``todo``
    are all cases that have not ended.  Errors of a host are ignored here: the runner reports them.
    """

    def __init__(self, period_s: float = PERIOD_S) -> None:
        """Begin without a run to observe."""
        self._period_s = period_s
        self.scene: Scene | None = None
        self.doing = ""
        self.case: Case | None = None
        self.todo: list[Case] = []
        self.ended: list[Ended] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, title: str, gauge: Gauge, test_case: TestCase) -> None:
        """Observe a run of a test case from now on."""
        self.leave()
        self.scene = Scene(title, test_case.unit, test_case.heard)
        self._stop = threading.Event()
        arguments = (self.scene, gauge, self._stop)
        self._thread = threading.Thread(target=self._observe, args=arguments, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Stop observing; the scene remains."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(self._period_s)
            self._thread = None

    def _observe(self, scene: Scene, gauge: Gauge, stop: threading.Event) -> None:
        previous: Reading | None = None
        while not stop.wait(self._period_s):
            with suppress(MqperfError, OSError, ValueError):
                now = gauge.read()
                scene.window_s = now.window_s
                if previous is not None:
                    rate, one_way = now.rate_msg_s(previous), now.one_way_s(previous)
                    scene.beats.append(Beat(now.at_s, rate, one_way, now.cores))
                previous = now
