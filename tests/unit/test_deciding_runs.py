"""Plans that repeat their points until it is decided how they differ, and two such plans."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from interrupted import Interrupted
from mqperf_toys import replay
from mqperf_toys.known import known, known_with

import mqperf
from mqperf.base.errors import PlanError
from mqperf.front.status import status
from mqperf.lab.runner import Job, Judges, Silent, sweep_all
from mqperf.plan import Decision, Frozen, Plan, compared
from mqperf.plan.file import PlanFile, parse_plan, with_decision
from mqperf.record import runs
from mqperf.study.stats.sequential import decisions

TOY = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-cast]
load: {generator: replay, green_threads: [1], duration_s: 1, warmup_s: 0, cooldown_s: 0,
  timeout_s: 1, variant: [plain, faster, close]}
decide: {within: 10 min}
"""

DECIDE = "decide: {within: 10 min}\n"


class Variants(Frozen):
    """Parameters of a replay that stands for a variant."""

    variant: Literal["plain", "faster", "close"] = "plain"
    thinning: int = 1


EFFECTS = {"plain": 0.0, "faster": 0.5, "close": 0.0}
"""Effect of a variant on the logarithm of throughput, with one thread."""


@dataclass
class Known:
    """Decides by known effects, with noise that depends on the case alone."""

    noise: float = 0.004
    looks: list[int] = field(default_factory=list)

    def __call__(self, plans: Sequence[Plan], folders: Sequence[Path]) -> Sequence[Decision]:
        figures: dict[tuple[int, str], dict[int, float]] = {}
        whole = [
            (side, run)
            for side, folder in enumerate(folders)
            for run in runs(folder)
            if run.status == "done"
        ]
        self.looks.append(len(whole))
        for side, run in whole:
            case = run.case()
            assert case is not None
            random = np.random.default_rng(int(case.id[-8:], 16))
            effect = EFFECTS[str(case.parameters["variant"])] if case.threads == 1 else 0.0
            log = effect + self.noise * random.normal()
            figures.setdefault((side, case.point), {})[case.repeat] = exp(log)
        return decisions(figures, [each.points for each in compared(plans)], 0.05)


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system and a generator without a broker, whose processes are real."""
    known_with(monkeypatch, Variants)


def run(folder: Path, observer: Interrupted, text: str = TOY, judge: Known | None = None) -> int:
    job = Job(parse_plan(text, Path("toy.yaml")), text, folder)
    [outcome] = sweep_all([job], observer, judges=Judges(decide=judge or Known()))
    return outcome.done


def repeats(folder: Path) -> dict[str, int]:
    """The number of complete runs by variant."""
    cases = [record.case() for record in runs(folder) if record.status == "done"]
    return Counter(str(case.parameters["variant"]) for case in cases if case is not None)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_only_what_is_open_is_repeated_and_an_interruption_changes_nothing(tmp_path: Path) -> None:
    """Interruptions in the first turn and in a later one give the same runs in the end."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    observer = Interrupted()
    done = run(whole, observer)
    measured = repeats(whole)
    assert measured["plain"] == measured["close"] > measured["faster"] >= 2
    assert sum(measured.values()) == done
    [faster] = [line for line in observer.lines if line.startswith("decided") and "faster" in line]
    assert f"after {measured['faster']} repeats: faster against plain, rpc-cast, 1" in faster
    for after in (2, 5):
        with pytest.raises(KeyboardInterrupt):
            run(parts, Interrupted(after))
    assert run(parts, Interrupted()) == done - 7
    assert repeats(parts) == measured
    assert {record.id for record in runs(parts)} >= {record.id for record in runs(whole)}
    again = Known()
    assert run(parts, Interrupted(), judge=again) == 0
    assert again.looks == [done]
    assert f"{done} done, 0 running, 0 failed, 0 pending" in status(parts)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_a_plan_ends_when_its_time_is_up(tmp_path: Path) -> None:
    """The first repeats are all made; open comparisons say how many repeats would decide them."""
    text = TOY.replace("10 min", "8 s")
    observer = Interrupted()
    assert run(tmp_path, observer, text, Known(noise=0.2)) == 6
    left = [line for line in observer.lines if line.startswith("open after 2 repeats: ")]
    assert len(left) == 2
    assert all(
        re.search(r"; (about \d+|not even 20) repeats would decide it$", line) for line in left
    )
    again = Interrupted()
    assert run(tmp_path, again, text, Known(noise=0.2)) == 0
    assert [line for line in again.lines if line.startswith("open")] == left


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_a_failed_point_waits_for_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are decided; this comparison goes on once the fault is gone."""
    launcher = replace(
        replay.LAUNCHER,
        commands=lambda job: replay.commands(
            job, {"client-1": "load"} if job.case.parameters["variant"] == "close" else {}
        ),
    )
    known(monkeypatch, launcher, replay.GENERATOR)
    observer = Interrupted()
    run(tmp_path, observer)
    assert len(observer.failed) == 2
    assert repeats(tmp_path)["close"] == 0
    assert repeats(tmp_path)["faster"] >= 2
    known(monkeypatch, generator=replay.GENERATOR)
    run(tmp_path, Interrupted())
    assert repeats(tmp_path)["close"] > 2


def two_plans(folder: Path, **more: str) -> list[Job]:
    """Plans of the variants plain and faster, with one thread and with two, decided between."""
    files = []
    for name, variant in {"before": "plain", "after": "faster"}.items():
        text = TOY.replace("[plain, faster, close]", variant).replace("[1]", "[1, 2]")
        text = text.replace(DECIDE, more.get(name, ""))
        files.append(PlanFile(parse_plan(text, Path(f"{name}.yaml")), text))
    decided = with_decision(files, "5%", "10 min")
    return [Job(file.plan, file.text, folder / file.plan.name) for file in decided]


def by_threads(folder: Path) -> Counter[int]:
    """The number of complete runs of a folder, by threads."""
    cases = [record.case() for record in runs(folder) if record.status == "done"]
    return Counter(case.threads for case in cases if case is not None)


def run_both(folder: Path, observer: Interrupted) -> int:
    outcomes = sweep_all(two_plans(folder), observer, judges=Judges(decide=Known()))
    return sum(outcome.done for outcome in outcomes)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_two_plans_are_repeated_in_turns_until_it_is_decided(tmp_path: Path) -> None:
    """Common points are repeated; an interruption changes nothing; compare has the verdicts."""
    with pytest.raises(KeyboardInterrupt):
        run_both(tmp_path, Interrupted(3))
    observer = Interrupted()
    done = run_both(tmp_path, observer)
    before, after = tmp_path / "before", tmp_path / "after"
    assert by_threads(before) == by_threads(after)
    assert by_threads(before)[2] > by_threads(before)[1] >= 2
    assert by_threads(before).total() * 2 == done + 3
    turns = [line for line in observer.lines if line.startswith("plan ")]
    assert turns[:3] == [
        "plan after, repeat 1",
        "plan after, repeat 2",
        "plan before, repeat 2",
    ]
    decided = [line for line in observer.lines if line.startswith("decided")]
    assert "after 2 repeats: after against before, rpc-cast, 1 thread: +" in decided[0]
    assert "2 threads: differs by less than 5 %" in decided[1]
    comparison = mqperf.compare(before, after)
    kinds = comparison.tables["comparison"].groupby("figure")["interval_kind"].unique()
    assert {*kinds.pop("throughput_msg_s")} == {"after each repeat"}
    assert {kind for of_figure in kinds for kind in of_figure} == {"none"}
    for results in (comparison.a, comparison.b):
        assert {"not-of-plan", "missing-run"}.isdisjoint(results.doubts["kind"])


@pytest.mark.usefixtures("toys")
def test_plans_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    """One plan alone, two without a common point, and one that decides by itself are refused."""
    judges, jobs = Judges(decide=Known()), two_plans(tmp_path)
    with pytest.raises(PlanError, match="decides between before and after: run these together"):
        sweep_all(jobs[:1], Silent(), judges=judges)
    other = jobs[1].plan.model_copy(update={"test_cases": ("notify",)})
    apart = [jobs[0], replace(jobs[1], plan=other)]
    with pytest.raises(PlanError, match="before and after have no point in common"):
        sweep_all(apart, Silent(), judges=judges)
    with pytest.raises(PlanError, match="plan after has decide already: leave it out"):
        two_plans(tmp_path, after="decide: {plans: [after, another]}")
    files = [PlanFile(job.plan, job.text) for job in jobs]
    with pytest.raises(PlanError, match="between two plans, 3 given"):
        with_decision([*files, files[0]], "5%", "10 min")
