"""Searches for the highest rate: the next rate, the verdict over repeats, and the end."""

import json
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import pytest
from interrupted import Interrupted
from mqperf_toys.known import known_with
from pydantic import Field
from typing_extensions import override

from mqperf.base.errors import PlanError
from mqperf.front.judging import judged
from mqperf.front.plan_words import searching
from mqperf.front.status import status
from mqperf.lab.runner import Job, Judges, Silent, sweep_all
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import Bracket, Case, Frozen, Hold, Plan, SearchPlan, Verdict
from mqperf.plan.file import load_plan, parse_plan
from mqperf.record import Run, runs
from mqperf.study import tables
from mqperf.study.stats.search_limit import Tried, limit

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "samples" / "stress"
WIDE = SearchPlan(from_msg_s=100, to_msg_s=10_000, within_share=0.1)

PLAN = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [rpc-cast]
load: {generator: replay, green_threads: [1], duration_s: 1, warmup_s: 0, cooldown_s: 0,
  timeout_s: 1}
repeats: 2
search: {from_msg_s: 1000, to_msg_s: 4000, within_share: 0.3, hold: {latency_p99_s: 0.01}}
"""


def play(
    search: SearchPlan, limit: float, repeats: int = 1, *, disturbed: bool = False
) -> tuple[list[float], str]:
    """The rates that a search tries if the limit is known, and its result."""
    verdicts: dict[tuple[float, int], Verdict] = {}
    tried: list[float] = []
    while (left := search.bracket(verdicts, repeats).next_run) is not None:
        assert left not in verdicts
        verdicts[left] = Verdict(left[0] <= limit, "as planted", disturbed=disturbed)
        tried.append(left[0])
    return tried, search.bracket(verdicts, repeats).ends


def after(search: SearchPlan, repeats: int, *words: str) -> Bracket:
    """The state of a search after runs at 200, each held or broken, possibly disturbed.

    They are written as ``held``, ``broke``, ``held?`` and ``broke?``.
    """
    verdicts = {
        (200.0, repeat): Verdict(word.startswith("held"), word, disturbed=word.endswith("?"))
        for repeat, word in enumerate(words, 1)
    }
    return search.bracket(verdicts, repeats)


@pytest.mark.parametrize("limit", [100, 101, 130, 999, 1000, 5_432.1, 9_999])
def test_it_brackets_a_known_limit(limit: float) -> None:
    """Any limit is bracketed to the requested precision, in the number of runs foreseen."""
    tried, ends = play(WIDE, limit)
    assert ends == "found"
    low = max((rate for rate in tried if rate <= limit), default=None)
    high = min(rate for rate in tried if rate > limit)
    assert low is not None
    assert low <= limit < high <= low * (1 + WIDE.within_share)
    assert len(tried) <= WIDE.most_runs(1)
    assert len(set(tried)) == len(tried)


def test_runs_that_others_disturb_are_foreseen() -> None:
    """Each rate may be run twice more; the plan says so, and the limit of cases includes it."""
    tried, ends = play(WIDE, 130, disturbed=True)
    assert ends == "found"
    assert WIDE.most_runs(1) < len(tried) <= WIDE.most_runs(3)
    plan = parse_plan(PLAN, Path("plan.yaml"))
    assert plan.search is not None
    usual, most = (plan.search.most_runs(repeats) for repeats in (2, 4))
    numbers = f"{usual} runs each, up to {most} if others use the host"
    assert searching(plan).endswith(f"to 30 %: {numbers}")
    assert plan.number_of_cases == most


def test_a_limit_outside_the_bounds_is_said_to_be_there() -> None:
    """The bounds are tried only if all rates between them had the same verdict."""
    assert play(WIDE, 20_000)[1] == "beyond"
    assert play(WIDE, 20_000)[0][-1] == WIDE.to_msg_s
    assert play(WIDE, 50)[1] == "below"
    assert play(WIDE, 50)[0][-1] == WIDE.from_msg_s


def test_most_repeats_decide() -> None:
    """One disturbed run of three changes nothing; if half of two hold, the rate does not."""
    search = SearchPlan(from_msg_s=100, to_msg_s=400, within_share=1)
    assert after(search, 3).next_run == (200, 1)
    assert after(search, 3, "broke", "held", "held").low == 200
    assert after(search, 3, "broke", "broke").high == 200
    assert after(search, 2, "held", "broke").high == 200


@pytest.mark.parametrize("way", ["held", "broke"])
def test_disturbed_runs_are_repeated(way: str) -> None:
    """Whatever its verdict, the run is repeated; at most twice, then it counts."""
    search = SearchPlan(from_msg_s=100, to_msg_s=400, within_share=1)
    assert after(search, 1, f"{way}?").next_run == (200, 2)
    assert after(search, 1, f"{way}?", "held").low == 200
    assert after(search, 1, f"{way}?", "broke").high == 200
    always = after(search, 1, *[f"{way}?"] * 3)
    assert (always.low if way == "held" else always.high) == 200
    assert after(search, 3, "held", f"{way}?", "broke").next_run == (200, 4)
    assert after(search, 3, "held", f"{way}?", "broke", "held").low == 200


def noisy(random: np.random.Generator, limit: float, noise: float, repeats: int) -> list[Tried]:
    """The runs of a search whose latency grows with the cube of the rate, with noise."""
    verdicts: dict[tuple[float, int], Verdict] = {}
    while (left := WIDE.bracket(verdicts, repeats).next_run) is not None:
        margin = 3 * log(left[0] / limit) + noise * random.normal()
        verdicts[left] = Verdict(margin <= 0, "as invented", margin=margin)
    return [
        Tried(rate, bool(verdict.holds), verdict.margin) for (rate, _), verdict in verdicts.items()
    ]


def ends(runs: list[Tried]) -> tuple[float, float]:
    """Both ends of the interval of a search."""
    by_rate = pd.Series([run.held for run in runs], [run.rate for run in runs]).groupby(level=0)
    held = by_rate.mean().loc[lambda share: share > 0.5].index.max()
    return held, min(run.rate for run in runs if run.rate > held)


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.5])
def test_the_interval_holds_the_limit(noise: float) -> None:
    """It does in about 95 % of searches; the bracket alone does far less often if runs vary."""
    random, count, limit_at = np.random.default_rng(3), 60, 1234.5
    searches = [noisy(random, limit_at, noise, repeats=3) for _ in range(count)]
    brackets = [ends(runs) for runs in searches]
    intervals = [limit(runs, *pair) for runs, pair in zip(searches, brackets, strict=True)]
    # at 95 % of 60, fewer than 51 happen by chance once in five hundred times
    assert sum(interval.low <= limit_at <= interval.high for interval in intervals) >= 51
    assert all(
        interval.low <= low < high <= interval.high
        for interval, (low, high) in zip(intervals, brackets, strict=True)
    )
    if noise > 0.1:
        assert sum(low <= limit_at <= high for low, high in brackets) < 45


def test_more_repeats_and_less_noise_narrow_the_interval() -> None:
    """The middle of the interval is at the limit."""

    def widths(noise: float, repeats: int) -> float:
        random, total = np.random.default_rng(4), 0.0
        for _ in range(20):
            runs = noisy(random, 1000, noise, repeats)
            interval = limit(runs, *ends(runs))
            assert interval.rate == pytest.approx(1000, rel=0.5)
            total += log(interval.high / interval.low)
        return total

    assert widths(0.1, 3) < widths(0.3, 3) < widths(0.3, 1)


def test_verdicts_alone_tell_less_of_the_limit() -> None:
    """Without latencies the intervals are wider, and still contain the limit."""
    random = np.random.default_rng(5)
    both = [noisy(random, 1000, 0.1, 3) for _ in range(20)]
    without_margins = [[replace(run, margin=None) for run in runs] for runs in both]
    intervals = [limit(bare, *ends(bare)) for bare in without_margins]
    figured = [limit(runs, *ends(runs)) for runs in both]
    wider = [
        interval.high / interval.low > more.high / more.low
        for interval, more in zip(intervals, figured, strict=True)
    ]
    assert sum(wider) > 15
    assert sum(interval.low <= 1000 <= interval.high for interval in intervals) > 15


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_a_disturbed_run_does_not_send_a_search_elsewhere(tmp_path: Path) -> None:
    """If the first run fails as others used the host, the search still finds the limit."""

    class Disturbed(Known):
        @override
        def __call__(self, hold: Hold, run: Run) -> Verdict:
            first = not self.rates_run
            verdict = super().__call__(hold, run)
            return replace(verdict, holds=False, disturbed=True) if first else verdict

    text = PLAN.replace("repeats: 2", "repeats: 1")
    disturbed, quiet = Disturbed(2500), Known(2500)
    run(tmp_path / "disturbed", disturbed, Silent(), text)
    run(tmp_path / "quiet", quiet, Silent(), text)
    assert disturbed.rates_run == [quiet.rates_run[0], *quiet.rates_run]
    [again] = [r for r in runs(tmp_path / "disturbed") if _case(r).repeat == 2]
    planned = tables.read(tmp_path / "disturbed")["planned"]
    assert again.id in set(planned["run"])


def test_both_rates_of_the_bracket_get_all_their_repeats() -> None:
    """They do even if fewer repeats decided them; other rates are not repeated."""
    tried, _ = play(WIDE, 1000, repeats=3)
    held, broken = max(r for r in tried if r <= 1000), min(r for r in tried if r > 1000)
    assert {tried.count(rate) for rate in tried} - {tried.count(held)} == {2}
    assert tried.count(held) == tried.count(broken) == 3


class Paced(Frozen):
    """Parameters of a replay that claims to keep to a rate."""

    rate_msg_s: float | None = None
    thinning: Annotated[int, Field(ge=1, le=100)] = 1


@dataclass
class Known:
    """Judges runs by a known limit; ``rates_run`` lists their rates in order."""

    limit: float
    rates_run: list[float] = field(default_factory=list)

    def __call__(self, _hold: Hold, run: Run) -> Verdict:
        rate = float(_case(run).parameters["rate_msg_s"])
        self.rates_run.append(rate)
        return Verdict(rate <= self.limit, "as planted")


def _case(run: Run) -> Case:
    case = run.case()
    assert case is not None
    return case


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system and a generator without a broker, whose processes are real."""
    known_with(monkeypatch, Paced)


def run(folder: Path, judge: Known, observer: Silent, text: str = PLAN) -> int:
    job = Job(parse_plan(text, Path("toy.yaml")), text, folder)
    [outcome] = sweep_all([job], observer, judges=Judges(judge))
    assert outcome.failed == ()
    return outcome.done


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_a_search_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    """Finished runs are read, not repeated; a search that has ended runs nothing."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Known(1700), Interrupted(after=2))
    before = {attempt.id for attempt in runs(tmp_path) if attempt.status == "done"}
    assert len(before) == 2
    assert "2 done, 0 running, 0 failed, 0 pending" in status(tmp_path)
    judge = Known(1700)
    done = run(tmp_path, judge, Silent())
    whole = [attempt for attempt in runs(tmp_path) if attempt.status == "done"]
    assert len(whole) == done + 2
    rates = {float(_case(attempt).parameters["rate_msg_s"]) for attempt in whole}
    low, high = max(r for r in rates if r <= 1700), min(r for r in rates if r > 1700)
    assert high <= low * 1.3
    positions = [attempt.facts().position for attempt in whole]
    assert sorted(filter(None, positions)) == [*range(1, len(whole) + 1)]
    assert run(tmp_path, Known(1700), Silent()) == 0


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_searches_of_one_plan_find_each_its_own(tmp_path: Path) -> None:
    """There is a search per value of other axes, and each uses only its own runs."""
    text = PLAN.replace("repeats: 2", "repeats: 1").replace("timeout_s: 1}", "thinning: [1, 2]}")

    class Two(Known):
        @override
        def __call__(self, _hold: Hold, run: Run) -> Verdict:
            parameters = _case(run).parameters
            rate = float(parameters["rate_msg_s"])
            return Verdict(rate <= 1200 * float(parameters["thinning"]), "as planted")

    run(tmp_path, Two(0), Silent(), text)
    plan = parse_plan(text, Path("toy.yaml"))
    rates: dict[object, list[float]] = {}
    for attempt in runs(tmp_path):
        parameters = _case(attempt).parameters
        rates.setdefault(parameters["thinning"], []).append(float(parameters["rate_msg_s"]))
    assert len(plan.searches()) == len(rates) == 2
    assert max(r for r in rates[1] if r <= 1200) < max(r for r in rates[2] if r <= 2400)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("toys")
def test_a_run_that_says_nothing_ends_its_search_for_now(tmp_path: Path) -> None:
    """Without a verdict the run is not repeated over and over."""

    class Mute(Known):
        @override
        def __call__(self, _hold: Hold, run: Run) -> Verdict:
            return Verdict(None, f"as planted in {run.id}")

    assert run(tmp_path, Mute(0), Silent()) == 1


BAD = {
    "hold: {latency_p99: 0.1}": "unknown key; did you mean 'latency_p99_s'?",
    "hold: {latency_p99_s: 0}": "expected more than 0",
    "hold: {lost_share: 2}": "expected less than 1",
    "from_msg_s: 5000": "from_msg_s: 5000 is not below to_msg_s 4000: exchange them",
    "withn_share: 0.1": "unknown key; did you mean 'within_share'?",
}


@pytest.mark.parametrize("wrong", BAD)
def test_a_mistake_is_one_line(wrong: str) -> None:
    """The error has the line of the file, and what to do."""
    base = {"from_msg_s": "1000", "to_msg_s": "4000"}
    key, value = wrong.split(": ", 1)
    body = ", ".join(f"{name}: {setting}" for name, setting in {**base, key: value}.items())
    text = PLAN.replace(PLAN[PLAN.index("search:") :], f"search: {{{body}}}\n")
    with pytest.raises(PlanError) as caught:
        parse_plan(text, Path("toy.yaml"))
    assert BAD[wrong] in str(caught.value)
    assert str(caught.value).startswith("toy.yaml:6: search")
    assert "\n" not in str(caught.value)


def plan_of(**more: object) -> str:
    fields: dict[str, object] = {
        "systems": {"rabbitmq": {"topologies": ["cmsm"]}},
        "test_cases": ["publish"],
        "load": {"generator": "amqp-0-9-1", "green_threads": 1, "duration_s": 1},
        "search": {"from_msg_s": 1, "to_msg_s": 2},
    }
    return json.dumps({**fields, **more})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {
                "load": {"generator": "command", "command": "true", "green_threads": 1,
                         "duration_s": 1},
                "test_cases": ["command"],
            },
            "keeps to no offered rate; these do: simulator, amqp-0-9-1, amqp-1.0",
        ),
        (
            {"load": {"generator": "amqp-0-9-1", "green_threads": 1, "duration_s": 1,
                      "rate_msg_s": 5}},
            "a search sets rate_msg_s itself: leave out load.rate_msg_s, or search",
        ),
        ({"control_runs": True}, "a search has no control runs"),
        ({"order": "random"}, "a search orders its runs itself"),
    ],
    ids=["unpaced", "rate", "control-runs", "order"],
)  # fmt: skip
def test_what_cannot_be_searched_is_refused(more: dict[str, object], words: str) -> None:
    """A generator without a rate, and keys that contradict a search, are errors."""
    with pytest.raises(PlanError, match=words) as caught:
        parse_plan(plan_of(**more), Path("plan.yaml"), problems_of)
    assert "\n" not in str(caught.value)


def test_plans_with_a_search_take_no_turns(tmp_path: Path) -> None:
    """Their next runs depend on the results so far."""
    plan: Plan = parse_plan(plan_of(), Path("plan.yaml"))
    jobs = [Job(plan, "", tmp_path / "a"), Job(plan, "", tmp_path / "b")]
    with pytest.raises(PlanError, match="cannot take turns"):
        sweep_all(jobs, Silent(), interleave=True, judges=Judges(judged))


@pytest.mark.parametrize("name", ["search", "search-quick"])
def test_the_plans_that_search_are_sound(name: str) -> None:
    """Their first cases can be made, and the bounds are far apart."""
    plan = load_plan(ROOT / "plans" / f"{name}.yaml", problems_of)
    assert plan.search is not None
    assert len(plan.cases()) == len(plan.searches()) >= 1
