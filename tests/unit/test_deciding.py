"""Plans that decide: what is compared, when that is known, and which runs come next."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from mqperf_toys import replay
from mqperf_toys.known import known
from typing_extensions import override

from mqperf.base.errors import PlanError
from mqperf.front.preview import preview, status
from mqperf.lab.runner import Job, Judges, Silent, sweep_all
from mqperf.pages.questions import answers
from mqperf.pages.sections.forms import plain
from mqperf.plan import MOST, Case, Decision, Frozen, Plan
from mqperf.plan.file import parse_plan
from mqperf.record import Run, runs
from mqperf.study.stats.sequential import Figures, decisions
from mqperf.study.stats.summary import points
from mqperf.study.tables import Tables, conform

PAIRS = [("a", "b"), ("c", "d")]

KEYS = ("run", "point", "system", "topology", "queues", "test_case", "threads", "repeat")

PLAN = """\
systems: {rabbitmq: {topologies: [cmsm], queues: [classic, quorum]}}
test_cases: [rpc-call]
load: {green_threads: 10, duration_s: 20}
decide: {difference: 0.05, within: 20 min}
"""

TOY = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-cast]
load: {generator: replay, green_threads: [1], duration_s: 1, warmup_s: 0, cooldown_s: 0,
  timeout_s: 1, kind: [plain, faster, close]}
decide: {within: 10 min}
"""


def invented(
    random: np.random.Generator, *effects: float, noise: float = 0.03, turns: float = 0.0
) -> Figures:
    """As many repeats as there may be of pairs that differ so; turns are faster or slower."""
    shared = turns * random.normal(size=MOST)
    sides = [(pair, effect) for pair, effect in zip(PAIRS, effects, strict=False)]
    return {
        point: dict(enumerate(np.exp(log + shared + noise * random.normal(size=MOST)), 1))
        for pair, effect in sides
        for point, log in zip(pair, (0.0, np.log1p(effect)), strict=True)
    }


def until(figures: Figures, repeats: int) -> Figures:
    return {
        point: {n: value for n, value in by_repeat.items() if n <= repeats}
        for point, by_repeat in figures.items()
    }


def test_a_planted_difference_is_found() -> None:
    """With its sign, in its interval, and in half of five repeats."""
    random = np.random.default_rng(1)
    decided = [decisions(invented(random, 0.3, -0.3), PAIRS, 0.05) for _ in range(200)]
    assert {tuple(decision.outcome for decision in pair) for pair in decided} == {
        ("better", "worse")
    }
    inside = [
        decision.low <= 1.3 <= decision.high
        for decision, _ in decided
        if decision.low and decision.high
    ]
    assert sum(inside) >= 190
    assert np.mean([decision.repeats for pair in decided for decision in pair]) < 2.5


def test_equal_points_are_hardly_ever_called_different() -> None:
    """In 400 plans of two comparisons each, looked at after each of 20 repeats."""
    random = np.random.default_rng(2)
    outcomes = Counter(
        decision.outcome
        for _ in range(400)
        for decision in decisions(invented(random, 0.0, 0.0, noise=0.02), PAIRS, 0.05)
    )
    assert outcomes["better"] + outcomes["worse"] <= 20  # 5 % of the plans
    assert outcomes["alike"] > 600


def test_what_matters_is_hardly_ever_called_alike() -> None:
    """Points that differ by just what matters, the other way round as well."""
    random = np.random.default_rng(3)
    sides = [invented(random, 0.0501, 1 / 1.0501 - 1, noise=0.02) for _ in range(200)]
    outcomes = Counter(
        decision.outcome for each in sides for decision in decisions(each, PAIRS, 0.05)
    )
    assert outcomes["alike"] <= 10


def test_it_is_decided_at_the_first_look_that_can() -> None:
    """What is measured afterwards, of it or of others, changes nothing."""
    random = np.random.default_rng(4)
    for _ in range(50):
        figures = invented(random, 0.12, 0.01)
        ended = decisions(figures, PAIRS, 0.05)
        for number, decision in enumerate(ended):
            before = decisions(until(figures, decision.repeats - 1), PAIRS, 0.05)[number]
            then = decisions(until(figures, decision.repeats), PAIRS, 0.05)[number]
            assert before.outcome == "open"
            assert (then.outcome, then.repeats) == (decision.outcome, decision.repeats)
            assert (then.low, then.high) == pytest.approx((decision.low, decision.high))


def test_turns_that_are_faster_or_slower_do_not_hide_a_difference() -> None:
    """A machine that is off by 30 % in each turn, alike for both sides."""
    random = np.random.default_rng(5)
    decided = [decisions(invented(random, 0.3, 0.3, turns=0.3), PAIRS, 0.05) for _ in range(50)]
    assert {decision.outcome for pair in decided for decision in pair} == {"better"}
    assert np.mean([decision.repeats for pair in decided for decision in pair]) < 4


def test_nothing_is_decided_before_the_first_repeats() -> None:
    """Nor of a point without figures; a missing repeat ends what counts."""
    figures = {"a": {1: 100.0, 2: 101.0, 3: 100.5}, "b": {1: 200.0, 3: 201.0}}
    assert decisions(figures, PAIRS, 0.05) == [Decision("open", 1), Decision("open", 0)]
    both = {**figures, "b": {1: 200.0, 2: 202.0}}
    assert decisions(both, PAIRS[:1], 0.05, first=3) == [Decision("open", 2)]
    [looked] = decisions(both, PAIRS[:1], 0.05)
    assert looked.ratio == pytest.approx(2.0, rel=0.01)


def test_what_is_open_is_told_how_many_repeats_decide() -> None:
    """About as many as it then takes; a wide interval takes more than a narrow one."""
    random = np.random.default_rng(6)
    needed: dict[float, list[float]] = {0.02: [], 0.05: []}
    for noise, numbers in needed.items():
        for _ in range(40):
            figures = invented(random, 0.0, 0.0, noise=noise)
            numbers += [
                decision.needed or 1000 for decision in decisions(until(figures, 4), PAIRS, 0.05)
            ]
    assert 5 <= np.median(needed[0.02]) <= 20
    assert np.median(needed[0.05]) > 25


def plan(text: str) -> Plan:
    return parse_plan(text, Path("here.yaml"))


def test_each_value_of_a_name_is_compared_with_the_first() -> None:
    """All else being alike; threads are no name."""
    text = PLAN.replace("[cmsm]", "[cmsm, cs1ss2]").replace("10,", "[1, 10],")
    two = plan(text).comparisons()
    assert Counter(comparison.axis for comparison in two) == {"queues": 4, "topology": 4}
    for comparison in two:
        assert comparison.reference.threads == comparison.other.threads
        same = {"queues": "topology", "topology": "queues"}[comparison.axis]
        assert getattr(comparison.reference, same) == getattr(comparison.other, same)
        assert comparison.points == (comparison.reference.point, comparison.other.point)
    assert two[0].words == "quorum against classic, rpc-call, 1 thread"


def test_systems_and_words_of_an_option_are_names_as_well() -> None:
    """Settings belong to their system; what only one system has, is compared with nothing."""
    systems = """\
systems:
  rabbitmq: {topologies: [single], queues: [classic, quorum], settings: {start_timeout_s: 60}}
  zeromq: {topologies: [direct], queues: [none]}
test_cases: [rpc-call]
load: {green_threads: 10, duration_s: 20}
decide: {}
"""
    assert [comparison.axis for comparison in plan(systems).comparisons()] == ["queues"]
    option = PLAN.replace(", quorum", "").replace("rpc-call", "publish")
    option = option.replace("10,", "10, generator: amqp-0-9-1, acks: [none, each],")
    [comparison] = plan(option).comparisons()
    assert (comparison.axis, comparison.words[:17]) == ("acks", "each against none")


@pytest.mark.parametrize(
    ("wrong", "right", "told"),
    [
        ("[classic, quorum]", "[classic]", "decide: there is nothing to compare"),
        ("20 min", "1 min", "decide.within: 2 repeats of all points take 1.5 min already"),
        ("20 min", "soon", "decide.within: expected a duration such as 20 min"),
        ("20 min", "0 s", "decide.within: expected a duration such as 20 min"),
        ("0.05", "0", "decide.difference: "),
        (
            "10,",
            "10, rate_msg_s: 9,",
            "load.rate_msg_s: throughput is compared, which a rate fixes",
        ),
        ("decide:", "order: random\ndecide:", "order: what is to be decided orders its runs"),
        ("decide:", "control_runs: true\ndecide:", "control_runs: what is to be decided"),
        ("decide:", "search: {from_msg_s: 9, to_msg_s: 99}\ndecide:", "decide: a search orders"),
    ],
)
def test_a_plan_that_cannot_decide_is_told_so(wrong: str, right: str, told: str) -> None:
    """At its line, in a sentence."""
    assert wrong in PLAN
    with pytest.raises(PlanError) as caught:
        plan(PLAN.replace(wrong, right))
    assert told in str(caught.value)
    assert str(caught.value).startswith("here.yaml:")


@pytest.mark.starts_programs
def test_the_preview_tells_how_much_it_may_be() -> None:
    """The first repeats in turns, and the time."""
    text = preview(plan(PLAN))
    assert "1 comparison, each until it is known whether it differs by 5 %: 2 repeats of" in text
    assert "at most about 20:00" in text
    assert [(case.queues, case.repeat) for case in plan(PLAN).cases()] == [
        ("classic", 1),
        ("quorum", 1),
        ("quorum", 2),
        ("classic", 2),
    ]
    assert len([*plan(PLAN.replace("decide", "repeats: 3\ndecide")).cases()]) == 6


class Kinds(Frozen):
    """Parameters of a replay that is said to be of a kind."""

    kind: Literal["plain", "faster", "close"] = "plain"
    thinning: int = 1


EFFECTS = {"plain": 0.0, "faster": 0.5, "close": 0.0}


@dataclass
class Known:
    """Decides by effects that are known, with noise that depends on the case alone."""

    noise: float = 0.006
    looks: list[int] = field(default_factory=list)

    def __call__(self, plan: Plan, folder: Path) -> Sequence[Decision]:
        figures: dict[str, dict[int, float]] = {}
        whole = [run for run in runs(folder) if run.status == "done"]
        self.looks.append(len(whole))
        for run in whole:
            case = run.case()
            assert case is not None
            random = np.random.default_rng(int(case.id[-8:], 16))
            log = EFFECTS[str(case.parameters["kind"])] + self.noise * random.normal()
            figures.setdefault(case.point, {})[case.repeat] = exp(log)
        return decisions(figures, [comparison.points for comparison in plan.comparisons()], 0.05)


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system and a generator without a broker, whose processes are real."""
    of_kinds = replace(replay.GENERATOR, parameters=Kinds)
    known(monkeypatch, generator=of_kinds)
    monkeypatch.setattr(replay, "GENERATOR", of_kinds)


class Interrupted(Silent):
    """Ctrl-C after so many runs; without a number, never.  Keeps what it was told."""

    def __init__(self, after: int = -1) -> None:
        self.left, self.told, self.failed = after, list[str](), list[str]()

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if case is None:
            self.told.append(what)

    @override
    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        self.failed += [case.id] if failure is not None else []
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def run(folder: Path, observer: Interrupted, text: str = TOY, judge: Known | None = None) -> int:
    job = Job(parse_plan(text, Path("toy.yaml")), text, folder)
    [outcome] = sweep_all([job], observer, judges=Judges(decide=judge or Known()))
    return outcome.done


def repeats(folder: Path) -> dict[str, int]:
    """By kind, how many whole runs there are."""
    cases = [record.case() for record in runs(folder) if record.status == "done"]
    return Counter(str(case.parameters["kind"]) for case in cases if case is not None)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_only_what_is_open_is_repeated_and_an_interruption_changes_nothing(tmp_path: Path) -> None:
    """Interrupted in the first turn, and in a later one: the same runs in the end."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    observer = Interrupted()
    done = run(whole, observer)
    measured = repeats(whole)
    assert measured["plain"] == measured["close"] > measured["faster"] >= 2
    assert sum(measured.values()) == done
    [faster] = [line for line in observer.told if line.startswith("decided") and "faster" in line]
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
def test_it_ends_when_the_time_is_up(tmp_path: Path) -> None:
    """After the first repeats, if these take it all; and tells what would decide the rest."""
    text = TOY.replace("10 min", "8 s")
    observer = Interrupted()
    assert run(tmp_path, observer, text, Known(noise=0.2)) == 6
    left = [line for line in observer.told if line.startswith("open after 2 repeats: ")]
    assert len(left) == 2
    assert all("repeats would decide it" in line for line in left)
    again = Interrupted()
    assert run(tmp_path, again, text, Known(noise=0.2)) == 0
    assert [line for line in again.told if line.startswith("open")] == left


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_what_failed_rests_until_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are decided; the comparison goes on where the failure was overcome."""
    launcher = replace(
        replay.LAUNCHER,
        commands=lambda job: replay.commands(
            job, {"client-1": "load"} if job.case.parameters["kind"] == "close" else {}
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


def test_plans_that_decide_take_no_turns_with_others() -> None:
    """And need who judges."""
    jobs = [Job(plan(PLAN), PLAN, Path("unused"))] * 2
    with pytest.raises(PlanError, match="cannot take turns with another"):
        sweep_all(jobs, Silent(), interleave=True)


def deciding(difference: float, noise: float, *threads: int) -> Tables:
    """Tables of mirrored against classic queues whose plan decides, without doubts."""
    layouts = (("cmsm", "classic"), ("cmsm", "mirrored"))
    shape = Shape(layouts=layouts, test_cases=("rpc-call",), threads=threads, repeats=4)
    frames = dict(tables(shape))
    random = np.random.default_rng(7)
    messages = frames["messages"]
    mirrored = messages["queues"].eq("mirrored")
    rates = 1000 * np.exp(noise * random.normal(size=len(messages)))
    frames["messages"] = messages.assign(
        throughput_msg_s=np.where(mirrored, rates * (1 + difference), rates)
    )
    firsts = frames["runs"].drop_duplicates("point")
    rule = {"difference": 0.05, "within": "20 min", "repeats": 2}
    against = [
        {"queues": point.replace("mirrored", "classic")} if "mirrored" in point else {}
        for point in firsts["point"]
    ]
    compared = [json.dumps({**rule, "against": reference}) for reference in against]
    rows = firsts.assign(control_run=0, decide=compared)
    frames["planned"] = conform("planned", rows[[*KEYS, "decide"]])
    return {**frames, "points": points(frames), "doubts": frames["doubts"][:0]}


def answered(frames: Tables) -> tuple[list[str], list[str]]:
    [answer] = answers(frames, ["comparison"])
    assert answer.drawing is not None
    assert answer.drawing.draw().axes
    return [plain(text) for text in answer.sentences], [plain(text) for text in answer.settle]


def test_the_answer_tells_what_was_decided() -> None:
    """Point by point, in words; of what is open, how many repeats would decide it."""
    [[differs], nothing] = answered(deciding(0.3, 0.005, 10, 20))
    assert differs.startswith("mirrored queues against classic queues: CALL at 10 threads +3")
    assert " and CALL at 20 threads +3" in differs
    [answer] = answers(deciding(0.3, 0.005, 10, 20), ["comparison"])
    assert answer.drawing is not None
    assert "mirrored queues against classic queues at 20 threads: 1.3" in answer.drawing.alt
    assert nothing == []
    [[alike], nothing] = answered(deciding(0.0, 0.003, 10))
    assert "CALL differs by less than 5 % (" in alike
    assert nothing == []
    [[open_], [more]] = answered(deciding(0.0, 0.03, 10))
    assert "CALL is still open after 4 repeats (" in open_
    assert "repeats would decide" in more


def test_a_doubted_side_is_not_told() -> None:
    """Whatever was decided of it."""
    frames = deciding(0.3, 0.005, 10)
    point = str(frames["points"]["point"].iloc[0])
    doubts = pd.DataFrame([{"kind": "tester-saturated", "point": point, "text": "so it is"}])
    frames = {**frames, "doubts": doubts.reindex(columns=frames["doubts"].columns)}
    [[sentence], _] = answered(frames)
    assert sentence.endswith("CALL cannot be told, as a side is doubted.")
