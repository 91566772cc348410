"""Thresholds of a measurement, and verdicts on them as lines and as JUnit XML."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mqperf.base.errors import MqperfError
from mqperf.plan import LATENCIES
from mqperf_projects.front.durations import seconds
from mqperf_projects.front.junit import Case, suite

Doubt = tuple[str, str]
"""Kind and text of a doubt."""

MOST, LEAST = "at most", "at least"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit of a figure: its column and name, whether upper or lower, and how values are shown.

    Latencies are in s and shown in ms; ``lost_share`` is a share of what was sent, shown in %.
    """

    column: str
    name: str
    limit: float
    bound: str = MOST
    unit: str = ""
    scale: float = 1.0

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value * self.scale:,.6g}{self.unit}"

    @property
    def words(self) -> str:
        """The threshold as text, such as ``p99 at most 50 ms``."""
        return f"{self.name} {self.bound} {self.text(self.limit)}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a threshold holds, and the measured value, or why there is none that counts."""

    threshold: Threshold
    holds: bool
    measured: str

    @property
    def line(self) -> str:
        """The verdict as a line of the first screen."""
        return f"{'pass' if self.holds else 'FAIL'}  {self.threshold.words}: {self.measured}"


def latency(column: str, text: str) -> Threshold:
    """Return the upper limit of a figure of latency."""
    name = LATENCIES[column]
    return Threshold(column, name, seconds(text, f"--{column.split('_')[1]}"), MOST, " ms", 1e3)


def lost(text: str) -> Threshold:
    """Return the upper limit of lost messages: a number, or a share of those sent, such as 0.1%."""
    number = _number(text.removesuffix("%"), "--lost", text)
    if text.endswith("%"):
        return Threshold("lost_share", "lost", number / 100, MOST, "%", 100)
    return Threshold("lost", "lost", number)


def throughput(text: str) -> Threshold:
    """Return the lower limit of the throughput, in msg/s."""
    number = _number(text, "--throughput", text)
    return Threshold("throughput_msg_s", "throughput", number, LEAST, " msg/s")


def _number(text: str, option: str, given: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise MqperfError(f"{option} {given}: expected a number, zero or more")
    return number


def judged(
    thresholds: Sequence[Threshold], figures: Mapping[str, Any], doubts: Sequence[Doubt]
) -> list[Verdict]:
    """Return a verdict on each threshold, by the figures of the run and its doubts.

    A threshold does not hold if its figure is missing, nor if the run's records contradict its
    numbers: by a doubt that makes them wrong, not one that limits what they are about.
    """
    from mqperf.study.stats.doubt_kinds import WRONG, weight_of  # with pandas, after the run

    wrong = [kind for kind, _ in doubts if weight_of(kind) == WRONG]
    return [_verdict(threshold, figures.get(threshold.column), wrong) for threshold in thresholds]


def _verdict(threshold: Threshold, value: float | None, wrong: Sequence[str]) -> Verdict:
    if value is None or math.isnan(value):
        return Verdict(threshold, holds=False, measured="not measured")
    holds = value <= threshold.limit if threshold.bound == MOST else value >= threshold.limit
    text = threshold.text(value)
    if holds and wrong:
        return Verdict(threshold, holds=False, measured=f"{text}, doubted ({', '.join(wrong)})")
    return Verdict(threshold, holds=holds, measured=text)


def as_junit(
    verdicts: Sequence[Verdict],
    doubts: Sequence[Doubt],
    failure: str,
    duration_s: float,
) -> str:
    """Return a suite with a case for the run and one for each threshold; doubts are its output.

    ``failure`` is why the run failed; empty if it did not.
    """
    cases = [
        Case(verdict.threshold.words, failure="" if verdict.holds else verdict.line)
        for verdict in verdicts
    ]
    cases.insert(0, Case("run", error=failure))
    return suite("mqperf quick", cases, [f"{kind}: {text}" for kind, text in doubts], duration_s)
