"""Compares a replay with its profile.

Counts are of deliveries, as in the record: a message that goes to three queues counts three times.
Lengths are those of messages.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mqperf.base import raw
from mqperf.base.errors import LoadError, PlanError
from mqperf.plan.file.attached import DIGITS, MOST_BYTES, pin_of
from mqperf.record import Whole
from mqperf.record.counts import read_counts
from mqperf.record.outputs.diary import Diary, read_diary
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load import Account, LoadReader
from mqperf_amqp_0_9_1.onhost.consumer import LENGTH
from mqperf_numbered.onhost.orders import sender_of
from mqperf_numbered.onhost.schedule import NS, Schedule
from mqperf_traffic.onhost.curve import curve_of, phase_of
from mqperf_traffic.plan.parameters import GENERATOR, of_case
from mqperf_traffic.plan.profile import Profile, Route, most_of_a_process, numbers, parsed

FILE = "client-1.traffic"
"""The profile, as written by the first client."""

TOLERANCE = 0.02
"""Allowed difference of the rate of a second (a share), and of the distribution of lengths."""

PAUSE_S = 0.1
"""Allowed pause of a client, which sends messages that were due in the pause a second later."""

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Replay:
    """The deliveries that a profile demands of a run, and those that were recorded.

    ``queues`` is the most queues of a route.  ``asked``, ``due`` and ``sent`` count deliveries of
    each second of the load: by the profile, by when they were due, and by when they were sent.
    ``missing`` has the asked and sent counts of routes for which these differ over the whole load.
    ``distance`` is the Kolmogorov-Smirnov distance of the two distributions of lengths.
    """

    routes: int
    queues: int
    asked: Counts
    due: Counts
    sent: Counts
    missing: Mapping[int, tuple[int, int]]
    distance: float

    def off(self, counts: Counts, slack_s: float = 0.0) -> NDArray[np.bool_]:
        """Return a mask of the seconds that differ from the profile by over 2 messages and 2 %.

        The tolerance includes what is due in ``slack_s`` at the largest rate of a second.
        """
        slack = 2 * self.queues + slack_s * self.asked.max()
        off: NDArray[np.bool_] = np.abs(counts - self.asked) > TOLERANCE * self.asked + slack
        return off

    @property
    def worst(self) -> float:
        """The largest share by which the messages sent in a second differ from the profile."""
        busy = self.asked > 0
        return float((np.abs(self.sent - self.asked)[busy] / self.asked[busy]).max(initial=0.0))

    def disagreements(self) -> Iterator[str]:
        """Yield sentences about differences from the profile."""
        for verb, counts, slack_s in (("due", self.due, 0.0), ("sent", self.sent, PAUSE_S)):
            if (off := np.flatnonzero(self.off(counts, slack_s))).size:
                first = off[0]
                yield (
                    f"in {off.size} of {len(counts)} s not as many messages were {verb} as the"
                    f" profile has: {counts[first]:.0f} after {first} s, where it has"
                    f" {self.asked[first]:.0f}"
                )
        for number, (asked, sent) in list(self.missing.items())[:1]:
            yield (
                f"of {len(self.missing)} of {self.routes} routes not as many messages were sent as"
                f" the profile has: {sent} of route {number + 1}, where it has {asked}"
            )
        if self.distance > TOLERANCE:
            yield (
                f"lengths that were received differ from those of the profile by"
                f" {self.distance:.3f}, more than {TOLERANCE:g}"
            )


def replay_of(run: Whole, streams: ByProcess) -> Replay:
    """Return the replay of a run; ``streams`` are by the clock of the host of each process.

    Raises ``LoadError`` for files that are damaged.
    """
    profile, parameters = _profile(run), of_case(run.case)
    load_s, processes = round(run.load[1] - run.load[0]), run.case.processes * run.case.hosts
    speed, scale, routes = parameters.traffic_speed, parameters.traffic_scale, len(profile.routes)
    each = most_of_a_process(routes, processes)
    asked, asked_of = np.zeros(load_s), dict[int, int]()
    for number, route in zip(numbers(routes, processes), profile.routes, strict=True):
        curve = curve_of(route.per_second, profile.tenths, speed=speed, scale=scale)
        schedule = Schedule(curve, phase_of(number, routes))
        due_until = np.array([schedule.due(second * NS - 1) for second in range(load_s + 1)])
        asked += np.diff(due_until) * route.queues
        asked_of[number] = int(due_until[-1]) * route.queues
    due, sent, sent_of = np.zeros(load_s), np.zeros(load_s), Counter[str]()
    for process in run.facts.processes:
        if process.kind != "client":
            continue
        begin = run.began(process.label)
        load = begin, begin + load_s
        sent += streams[process.label]["sent"].per_second(load)
        due += streams[process.label]["handover"].started_in(load).per_second()[0]
        for sender, count in _senders(run, process.label).items():
            sent_of[sender.partition("@")[0]] += count
    missing = {
        number: (count, sent_count)
        for number, count in asked_of.items()
        if (sent_count := sent_of[sender_of(number, each)]) != count
    }
    queues = max(route.queues for route in profile.routes)
    numbered = zip(profile.routes, numbers(routes, processes), strict=True)
    messages = [(route, asked_of[number] / route.queues) for route, number in numbered]
    return Replay(routes, queues, asked, due, sent, missing, distance(messages, _lengths(run)))


def _senders(run: Whole, label: str) -> dict[str, int]:
    """Return how many messages a client sent, by the name of each sender."""
    sequences = read_counts(run.folder / f"{label}.counts").numbers.get("sent", {})
    return {sender: sequence.count for sender, sequence in sequences.items()}


def _profile(run: Whole) -> Profile:
    """Read the recorded profile; raises ``LoadError`` if it is not that of the plan."""
    path = run.folder / FILE
    try:
        content = raw.content(path, MOST_BYTES)
        profile = parsed(content, str(path))
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}.") from None
    except PlanError as error:
        raise LoadError(str(error)) from None
    pin = pin_of(of_case(run.case).traffic_file)
    if pin is None or hashlib.sha256(content).hexdigest()[:DIGITS] != pin.digest:
        raise LoadError(f"{path}: it is another profile than the plan's")
    return profile


def _diaries(run: Whole) -> list[Diary]:
    return [
        read_diary(GENERATOR.name, run.folder, process.label) for process in run.facts.processes
    ]


def _lengths(run: Whole) -> Counter[int]:
    """Return how many messages of each length were received."""
    received = Counter[int]()
    for diary in _diaries(run):
        for name, count in diary.counts.items():
            if name.startswith(LENGTH):
                received[int(name.removeprefix(LENGTH))] += count
    return received


def distance(messages: Iterable[tuple[Route, float]], received: Mapping[int, int]) -> float:
    """Return the distance of the lengths that routes with message counts have from ``received``."""
    asked = defaultdict[int, float](float)
    for route, count in messages:
        for length, of_length in route.lengths:
            asked[length] += of_length / route.messages * count
    if not received or not sum(asked.values()):
        return 1.0
    lengths = sorted({*asked, *received})
    shares = [
        np.cumsum([counts.get(length, 0) for length in lengths]) / sum(counts.values())
        for counts in (asked, received)
    ]
    return float(np.abs(shares[0] - shares[1]).max())


def account(run: Whole, streams: ByProcess) -> Account:
    """Return offered rate and events of a run, and its differences from the profile."""
    replay = replay_of(run, streams)
    begin, end = map(round, run.window_in_load)
    return Account(
        offered_msg_s=float(replay.asked[begin:end].sum()) / (end - begin),
        happened=[event for diary in _diaries(run) for event in diary.happened()],
        disagreements=[*replay.disagreements()],
    )


READER = LoadReader(GENERATOR.name, account)
