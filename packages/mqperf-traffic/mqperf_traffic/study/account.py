"""What was replayed, against the profile that was to be.

Counts are of deliveries, as the record has them: a message that goes to three queues counts three
times.  Lengths are those of messages.
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
"""The profile, as the first client had it."""

TOLERANCE = 0.02
"""By how much the rate of a second, and the distribution of lengths, may differ."""

PAUSE_S = 0.1
"""A client that pauses for so long sends what was due in it in the next second."""

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Replay:
    """What a profile asks of a run, and what was recorded of it.

    ``queues`` are the most of a route.  ``asked``, ``due`` and ``sent`` are of each second of the
    load, by what the profile has, when messages were due, and when they were sent; ``missing`` are
    routes of which another number was sent in the whole load.  ``distance`` is the largest
    difference of two cumulative distributions of lengths, that of Kolmogorov and Smirnov.
    """

    routes: int
    queues: int
    asked: Counts
    due: Counts
    sent: Counts
    missing: Mapping[int, tuple[int, int]]
    distance: float

    def off(self, counts: Counts, slack_s: float = 0.0) -> NDArray[np.bool_]:
        """The seconds whose counts differ from the profile by more than two messages and 2 %.

        What is due in ``slack_s`` of the fullest second is allowed, too.
        """
        slack = 2 * self.queues + slack_s * self.asked.max()
        wrong: NDArray[np.bool_] = np.abs(counts - self.asked) > TOLERANCE * self.asked + slack
        return wrong

    @property
    def worst(self) -> float:
        """The largest share by which the messages sent in a second differ from the profile."""
        some = self.asked > 0
        return float((np.abs(self.sent - self.asked)[some] / self.asked[some]).max(initial=0.0))

    def disagreements(self) -> Iterator[str]:
        """Sentences about what is not as the profile has it."""
        for words, counts, slack_s in (("due", self.due, 0.0), ("sent", self.sent, PAUSE_S)):
            if (off := np.flatnonzero(self.off(counts, slack_s))).size:
                first = off[0]
                yield (
                    f"in {off.size} of {len(counts)} s not as many messages were {words} as the"
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
    """That of a run; streams are by the clock of the host of each process.

    Raises ``LoadError`` for files that are damaged.
    """
    profile, parameters = _profile(run), of_case(run.case)
    load_s, processes = round(run.load[1] - run.load[0]), run.case.processes * run.case.hosts
    speed, scale, routes = parameters.traffic_speed, parameters.traffic_scale, len(profile.routes)
    each = most_of_a_process(routes, processes)
    asked, of_route = np.zeros(load_s), dict[int, int]()
    for number, route in zip(numbers(routes, processes), profile.routes, strict=True):
        curve = curve_of(route.per_second, profile.tenths, speed=speed, scale=scale)
        schedule = Schedule(curve, phase_of(number, routes))
        until = np.array([schedule.due(second * NS - 1) for second in range(load_s + 1)])
        asked += np.diff(until) * route.queues
        of_route[number] = int(until[-1]) * route.queues
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
        number: (count, of_sender)
        for number, count in of_route.items()
        if (of_sender := sent_of[sender_of(number, each)]) != count
    }
    queues = max(route.queues for route in profile.routes)
    every = zip(profile.routes, numbers(routes, processes), strict=True)
    messages = [(route, of_route[number] / route.queues) for route, number in every]
    return Replay(routes, queues, asked, due, sent, missing, distance(messages, _lengths(run)))


def _senders(run: Whole, label: str) -> dict[str, int]:
    """How many messages a client sent, by the name of each sender."""
    seen = read_counts(run.folder / f"{label}.counts").numbers.get("sent", {})
    return {sender: numbers.count for sender, numbers in seen.items()}


def _profile(run: Whole) -> Profile:
    """The recorded one, which must be that of the plan."""
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
    """How many messages of each length were received."""
    come = Counter[int]()
    for diary in _diaries(run):
        for name, count in diary.counts.items():
            if name.startswith(LENGTH):
                come[int(name.removeprefix(LENGTH))] += count
    return come


def distance(messages: Iterable[tuple[Route, float]], come: Mapping[int, int]) -> float:
    """Between the lengths that routes have with so many messages, and those that have ``come``."""
    asked = defaultdict[int, float](float)
    for route, count in messages:
        for length, of_length in route.lengths:
            asked[length] += of_length / route.messages * count
    if not come or not sum(asked.values()):
        return 1.0
    lengths = sorted({*asked, *come})
    shares = [
        np.cumsum([counts.get(length, 0) for length in lengths]) / sum(counts.values())
        for counts in (asked, come)
    ]
    return float(np.abs(shares[0] - shares[1]).max())


def account(run: Whole, streams: ByProcess) -> Account:
    """What happened to the processes, and what is not as the profile has it."""
    replay = replay_of(run, streams)
    begin, end = map(round, run.window_in_load)
    return Account(
        offered_msg_s=float(replay.asked[begin:end].sum()) / (end - begin),
        happened=[event for diary in _diaries(run) for event in diary.happened()],
        disagreements=[*replay.disagreements()],
    )


READER = LoadReader(GENERATOR.name, account)
