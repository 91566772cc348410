"""Plans that decide: their comparisons, when these are decided, and which runs come next."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from staircases import CLASSIC, climbed

from mqperf.base.errors import PlanError
from mqperf.front.preview import preview
from mqperf.lab.runner import Job, Silent, sweep_all
from mqperf.pages.questions import answers
from mqperf.pages.report import comparison as wording
from mqperf.pages.sections.forms import plain
from mqperf.plan import MOST, Decision, Plan
from mqperf.plan.file import parse_plan
from mqperf.study.stats import compared, complete
from mqperf.study.stats.decided import SEQUENTIAL, throughputs
from mqperf.study.stats.offered_rates import middle_rates
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


def invented(
    random: np.random.Generator, *effects: float, noise: float = 0.03, turns: float = 0.0
) -> Figures:
    """The most repeats of pairs with these effects; ``turns`` is the noise shared by a turn."""
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


def test_staircases_are_decided_by_where_they_end() -> None:
    """Throughput on the way does not count; a staircase without an end decides nothing."""
    found = climbed(CLASSIC, (320.0, 256.0, 1e9))
    ends = middle_rates(found).dropna()
    runs = found["runs"].set_index("run").loc[ends.index]
    rates = throughputs(found)
    assert len(ends) == 5
    assert sum(map(len, rates.values())) == 5
    for point, repeat, end in zip(runs["point"], runs["repeat"], ends, strict=True):
        assert rates[point][repeat] == pytest.approx(end)
    without = {name: frame for name, frame in found.items() if name != "bottlenecks"}
    assert throughputs(without) == rates


def test_a_planted_difference_is_found() -> None:
    """Its sign is right, its interval contains it, and half of five repeats are enough."""
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


def test_a_relevant_difference_is_hardly_ever_called_alike() -> None:
    """This holds for points that differ by just that much, in either direction."""
    random = np.random.default_rng(3)
    sides = [invented(random, 0.0501, 1 / 1.0501 - 1, noise=0.02) for _ in range(200)]
    outcomes = Counter(
        decision.outcome for each in sides for decision in decisions(each, PAIRS, 0.05)
    )
    assert outcomes["alike"] <= 10


def test_a_comparison_is_decided_at_the_first_look_that_can() -> None:
    """Later repeats, of the same comparison or of others, change nothing."""
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
    """A machine varies by 30 % between turns, alike for both sides."""
    random = np.random.default_rng(5)
    decided = [decisions(invented(random, 0.3, 0.3, turns=0.3), PAIRS, 0.05) for _ in range(50)]
    assert {decision.outcome for pair in decided for decision in pair} == {"better"}
    assert np.mean([decision.repeats for pair in decided for decision in pair]) < 4


def test_nothing_is_decided_before_the_first_repeats() -> None:
    """Nor is a point without figures; repeats after a missing one do not count."""
    figures = {"a": {1: 100.0, 2: 101.0, 3: 100.5}, "b": {1: 200.0, 3: 201.0}}
    assert decisions(figures, PAIRS, 0.05) == [Decision("open", 1), Decision("open", 0)]
    both = {**figures, "b": {1: 200.0, 2: 202.0}}
    assert decisions(both, PAIRS[:1], 0.05, first=3) == [Decision("open", 2)]
    [looked] = decisions(both, PAIRS[:1], 0.05)
    assert looked.ratio == pytest.approx(2.0, rel=0.01)


def test_an_open_comparison_has_the_repeats_it_needs() -> None:
    """The number is about right; a wide interval needs more repeats than a narrow one."""
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


def test_each_named_value_is_compared_with_the_first() -> None:
    """All other parameters are alike; thread counts are not compared."""
    text = PLAN.replace("[cmsm]", "[cmsm, cs1ss2]").replace("10,", "[1, 10],")
    two = plan(text).comparisons()
    assert Counter(comparison.axis for comparison in two) == {"queues": 4, "topology": 4}
    for comparison in two:
        assert comparison.reference.threads == comparison.other.threads
        same = {"queues": "topology", "topology": "queues"}[comparison.axis]
        assert getattr(comparison.reference, same) == getattr(comparison.other, same)
        assert comparison.points == ((0, comparison.reference.point), (0, comparison.other.point))
    assert two[0].words == "quorum against classic, cmsm, rpc-call, 1 thread"


def test_systems_and_options_have_named_values_as_well() -> None:
    """Settings belong to their system; what only one system has is not compared."""
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
    ("within", "seconds"),
    [("20 min", 1200), ("20m", 1200), ("180 s", 180), ("1.5 h", 5400), ("0.5h", 1800)],
)
def test_time_for_all_runs_is_a_duration(within: str, seconds: float) -> None:
    """It has the units of every option that is a duration."""
    decide = plan(PLAN.replace("20 min", within)).decide
    assert decide is not None
    assert decide.within_s == seconds


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        ("[classic, quorum]", "[classic]", "decide: there is nothing to compare"),
        ("20 min", "1 min", "decide.within: 2 repeats of all points take 1.5 min already"),
        ("20 min", "soon", "decide.within: expected a duration such as 20 min"),
        ("20 min", "0 s", "decide.within: expected a duration above 0"),
        ("0.05", "0", "decide.difference: "),
        (
            "10,",
            "10, rate_msg_s: 9,",
            "load.rate_msg_s: throughput is compared, which a rate fixes",
        ),
        (
            "load: {",
            "load: {generator: amqp-0-9-1, rate_cycle: 2 s at 9 then 2 s at 99, ",
            "load.rate_cycle: throughput is compared, which a rate fixes",
        ),
        ("decide:", "order: random\ndecide:", "order: what is to be decided orders its runs"),
        ("decide:", "control_runs: true\ndecide:", "control_runs: what is to be decided"),
        ("decide:", "search: {from_msg_s: 9, to_msg_s: 99}\ndecide:", "decide: a search orders"),
    ],
)
def test_a_plan_that_cannot_decide_is_refused(wrong: str, right: str, words: str) -> None:
    """The error has its line, and is a sentence."""
    assert wrong in PLAN
    with pytest.raises(PlanError) as caught:
        plan(PLAN.replace(wrong, right))
    assert words in str(caught.value)
    assert str(caught.value).startswith("here.yaml:")


def test_a_staircase_of_rates_can_be_decided() -> None:
    """The rates at which its runs end decide it."""
    stairs = "load: {rate_msg_s: 100, ramp_to_msg_s: 4000, ramp_steps: 10, "
    assert plan(PLAN.replace("load: {", stairs)).decide is not None


@pytest.mark.starts_programs
def test_the_preview_shows_the_first_repeats_and_the_time() -> None:
    """The first repeats are in turns, and the time is the most that all runs take."""
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


def test_plans_that_decide_take_no_turns_with_others() -> None:
    """They cannot be interleaved with other plans."""
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


@pytest.mark.takes_long
def test_the_answer_has_what_was_decided() -> None:
    """It has a phrase for each point, and for an open one the repeats that would decide it."""
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
    assert "CALL is still undecided after 4 repeats (" in open_
    assert "repeats would decide" in more


def test_a_doubted_side_has_no_result() -> None:
    """A doubt about a side hides what was decided."""
    frames = deciding(0.3, 0.005, 10)
    point = str(frames["points"]["point"].iloc[0])
    doubts = pd.DataFrame([{"kind": "tester-saturated", "point": point, "text": "so it is"}])
    frames = {**frames, "doubts": doubts.reindex(columns=frames["doubts"].columns)}
    [[sentence], _] = answered(frames)
    assert sentence.endswith("CALL cannot be compared, because one side is in doubt.")


def side(difference: float, noise: float, seed: int, *plans: str) -> Tables:
    """Tables of one of two plans that decide between each other."""
    shape = Shape(
        layouts=(("cmsm", "classic"),), test_cases=("rpc-call",), threads=(10,), repeats=4
    )
    frames = dict(tables(shape))
    random = np.random.default_rng(seed)
    noisy = np.exp(noise * random.normal(size=len(frames["messages"])))
    frames["messages"] = frames["messages"].assign(throughput_msg_s=1000 * (1 + difference) * noisy)
    rule = {"difference": 0.05, "within": "20 min", "plans": plans, "repeats": 2, "against": {}}
    rows = frames["runs"].drop_duplicates("point").assign(control_run=0, decide=json.dumps(rule))
    frames["planned"] = conform("planned", rows[[*KEYS, "decide"]])
    return complete({**frames, "doubts": frames["doubts"][:0]})


@pytest.mark.takes_long
def test_a_comparison_of_two_plans_has_the_verdicts_that_ended_them() -> None:
    """Only throughput has a verdict, and only if both plans decided with each other."""
    plans = ("before", "after")
    for difference, noise, verdict in ((-0.3, 0.01, "worse"), (0, 0.003, "alike")):
        comparison = compared(side(0, noise, 1, *plans), side(difference, noise, 2, *plans))
        rows = comparison["comparison"].set_index("figure")
        throughput = rows.loc["throughput_msg_s"]
        assert (throughput["verdict"], throughput["interval_kind"]) == (verdict, SEQUENTIAL)
        assert throughput["ratio_low"] < throughput["ratio"] < throughput["ratio_high"]
        others = rows.drop(index="throughput_msg_s")
        assert {*others["verdict"]} == {"cannot tell"}
        assert others["ratio_low"].isna().all()
        assert f"{verdict} at 1 (" in next(wording.answers(comparison["comparison"]))
    stranger = compared(side(0, 0.01, 1, *plans), side(-0.3, 0.01, 2, "before", "later"))
    assert {*stranger["comparison"]["interval_kind"]} == {"repeats"}
