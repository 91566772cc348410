"""The verdicts of a gate: for each point whether it is worse, and why that may not count."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import MqperfError
from mqperf.base.one_line import amount
from mqperf_gate.front.measuring import BASELINE, CANDIDATE, Gate

WORSE, DOUBTED, UNLIKE, OPEN = "worse", "doubted", "not alike", "open"
FAILING = (WORSE, DOUBTED)
UNDECIDED = (UNLIKE, OPEN)
"""Outcomes without a decision: the machine or versions differ, or more repeats are needed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The compared points, the outcome in a word, the change with its interval, and repeats."""

    compared: str
    outcome: str
    change: str
    repeats: int


@dataclass(frozen=True, slots=True)
class Gated:
    """The result: verdicts, reasons of ``failed`` runs, differences beside the plan, and doubts.

    ``alone`` says how many points of the plan the baseline does not have, if any.
    """

    difference: float
    verdicts: Sequence[Verdict]
    failed: Sequence[str]
    unlike: Sequence[str]
    doubts: Sequence[str]
    alone: str = ""

    def passes(self, *, strict: bool) -> bool:
        """Whether no run failed and no verdict fails; with ``strict``, all must be decided."""
        outcomes = {verdict.outcome for verdict in self.verdicts}
        stopping = {*FAILING, *(UNDECIDED if strict else ())}
        return not self.failed and outcomes.isdisjoint(stopping)


@dataclass(frozen=True, slots=True)
class Aside:
    """Facts beside throughput: differences in words, doubts, and points with ``wrong`` records.

    Those are points with contradictory records, or with runs in which nothing was finished.
    """

    unlike: Sequence[str] = ()
    doubts: Sequence[str] = ()
    wrong: frozenset[str] = frozenset()


def judged(gate: Gate, failed: Sequence[str]) -> Gated:
    """The verdicts from all whole runs of both sides; ``failed`` has the reasons of failed runs."""
    try:
        beside = aside(gate.folders, recorded=gate.recorded)
    except MqperfError as error:
        failed, beside = [*failed, str(error)], Aside()
    verdicts = []
    alone = {case.point for case in gate.plans[1].turn(1)}
    count = len(alone)
    for comparison, decision in gate.decided():
        alone.discard(comparison.other.point)
        points = {comparison.reference.point, comparison.other.point}
        outcome = outcome_of(decision.outcome, beside, doubted=not points.isdisjoint(beside.wrong))
        change = decision.words(gate.difference)
        verdicts.append(Verdict(comparison.words, outcome, change, decision.repeats))
    words = (
        f"{len(alone)} of {amount(count, 'point')} of the plan, which the baseline does not have"
    )
    not_compared = words if alone else ""
    return Gated(gate.difference, verdicts, failed, beside.unlike, beside.doubts, not_compared)


def outcome_of(outcome: str, beside: Aside, *, doubted: bool) -> str:
    """The outcome of a decision, unless its points are doubted or the sides are not alike."""
    if doubted:
        return DOUBTED
    return UNLIKE if beside.unlike and outcome != OPEN else outcome


def aside(folders: Sequence[Path], *, recorded: bool) -> Aside:
    """The facts of both sides; a recorded baseline must be of the same machine and versions.

    Versions of a baseline that is measured now are set by the plans, and may differ.

    Raises ``MqperfError`` where a side has no run that can be read.
    """
    from mqperf.front.api import read  # pandas is not loaded before the runs are over
    from mqperf.study.stats.differences import HARDWARE, VERSIONS, differences
    from mqperf.study.stats.doubt_kinds import WRONG, weight_of

    sides = [read(folder) for folder in folders]
    doubts: list[str] = []
    wrong: set[str] = set()
    for name, side in zip((BASELINE, CANDIDATE), sides, strict=True):
        rows, messages = side["doubts"], side["messages"]
        kind_and_text = zip(rows["kind"], rows["text"], strict=True)
        doubts += [f"{name}: {kind}: {text}" for kind, text in kind_and_text]
        unfinished = messages[messages["throughput_msg_s"].eq(0)]
        doubts += [f"{name}: nothing finished in {run}" for run in unfinished["run"]]
        wrong |= {*rows.loc[rows["kind"].map(weight_of) == WRONG, "point"].dropna()}
        wrong |= {*unfinished["point"]}
    frame = differences(sides[0].complete, sides[1].complete)
    aspects = (HARDWARE, VERSIONS) if recorded else (HARDWARE,)
    unlike = [
        f"{row.what}: {row.value_in_a} in the baseline, {row.value_in_b} now"
        for row in frame[frame["aspect"].isin(aspects)].itertuples()
    ]
    return Aside(unlike, doubts, frozenset(wrong))
