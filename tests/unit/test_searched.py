"""Search results: the verdict of each run, the table of searches, and the answer."""

import json
from collections.abc import Iterator
from math import log
from pathlib import Path

import pandas as pd
import pytest
import samples
from viewed import contents

from mqperf.pages.questions import answers
from mqperf.pages.sections import forms
from mqperf.plan import Hold, SearchPlan
from mqperf.study import stats
from mqperf.study.stats.searches import verdict
from mqperf.study.tables import Tables, conform

pytestmark = pytest.mark.takes_long

SAMPLE = Path(__file__).parents[2] / "data/samples/stress"


@pytest.fixture(scope="module")
def recorded() -> Tables:
    """The recorded runs against a real broker."""
    return samples.read(SAMPLE)


def each_run(frames: Tables) -> Iterator[Tables]:
    for name in frames["runs"]["run"]:
        yield {
            table: frame[frame["run"].eq(name)] if "run" in frame.columns else frame
            for table, frame in frames.items()
        }


def test_sound_runs_hold_limits_above_their_latency(recorded: Tables) -> None:
    """A limit above the recorded p99 holds, one below fails, and the verdict names the p99."""
    for run in each_run(recorded):
        p99 = float(run["latency"]["latency_p99_s"].iloc[0])
        above = Hold(latency_p99_s=p99 * 1.01, throughput_share=0.5)
        below = Hold(latency_p99_s=p99 * 0.99, throughput_share=0.5)
        assert verdict(run, above).holds is True
        judged = verdict(run, below)
        assert judged.holds is False
        assert judged.text == f"p99 {p99 * 1e3:.1f} ms"


def test_planted_loss_and_lag_do_not_hold(recorded: Tables) -> None:
    """A lost message and a throughput below the offered rate each fail a run."""
    run = dict(next(each_run(recorded)))
    loose = Hold(throughput_share=0.5)
    assert verdict(run, loose).holds is True
    sound = run["messages"]
    run["messages"] = sound.assign(lost=7)
    assert "7 of" in verdict(run, loose).text
    assert verdict(run, Hold(throughput_share=0.5, lost_share=0.5)).holds is True
    run["messages"] = sound.assign(throughput_msg_s=sound["throughput_msg_s"] * 0.4)
    assert verdict(run, loose).holds is False
    run["messages"] = sound.assign(throughput_msg_s=float("nan"))
    assert verdict(run, loose).holds is None


def test_a_run_is_disturbed_whether_it_holds_or_not(recorded: Tables) -> None:
    """A run on a quiet host is not marked as disturbed."""
    run = dict(next(each_run(recorded)))
    loose, strict = Hold(throughput_share=0.5), Hold(latency_p99_s=1e-6)
    assert (verdict(run, loose).counted, verdict(run, strict).counted) == (True, False)
    cpu = run["cpu"]
    more = cpu["kind"].eq("host").map({True: 0.6, False: 0.0})
    run["cpu"] = cpu.assign(total_cores=cpu["total_cores"] + more)
    assert (verdict(run, loose).counted, verdict(run, strict).counted) == (None, None)
    assert (verdict(run, loose).holds, verdict(run, strict).holds) == (True, False)


def test_a_margin_is_that_of_the_latency_that_decides(recorded: Tables) -> None:
    """It is that of the latency nearest its limit; other failures, or no limit, leave none."""
    run = dict(next(each_run(recorded)))
    p50, p99 = (float(run["latency"][f"latency_p{q}_s"].iloc[0]) for q in (50, 99))
    hold = Hold(latency_p50_s=2 * p50, latency_p99_s=p99 / 3, throughput_share=0.5)
    assert verdict(run, hold).margin == pytest.approx(log(3))
    assert verdict(run, Hold(latency_p50_s=2 * p50, throughput_share=0.5)).margin == pytest.approx(
        -log(2)
    )
    assert verdict(run, Hold(throughput_share=0.5)).margin is None
    run["messages"] = run["messages"].assign(lost=7)
    assert verdict(run, Hold(latency_p50_s=2 * p50, throughput_share=0.5)).margin is None


def test_plans_without_a_search_have_none(recorded: Tables) -> None:
    """The table exists and is empty."""
    assert stats.complete(recorded)["searches"].empty


def as_searched(frames: Tables, *shares: float, others_cores: float = 0.0) -> pd.DataFrame:
    """The searches of a plan from 1,000 to 4,000; runs finish these shares of 2,000, 4,000, 4,000 …

    At 4,000, others use ``others_cores`` more cores.  CPU and message counts are those of the first
    recorded run, all else is each run's own.
    """
    chosen = frames["runs"]["run"].iloc[: len(shares)].tolist()
    rates = dict.fromkeys(chosen, 4000.0) | {chosen[0]: 2000.0}
    repeats = {name: max(1, place) for place, name in enumerate(chosen)}
    finished = {name: rates[name] * share for name, share in zip(chosen, shares, strict=True)}
    searched = {
        name: frame[frame["run"].isin(chosen)] if "run" in frame.columns else frame
        for name, frame in frames.items()
    }
    searched["runs"] = searched["runs"].assign(
        rate_msg_s=searched["runs"]["run"].map(rates).astype(float),
        repeat=searched["runs"]["run"].map(repeats),
    )
    searched["messages"] = searched["messages"].assign(
        **searched["messages"].iloc[0][["sent", "received"]],
        offered_rate_msg_s=searched["messages"]["run"].map(rates).astype(float),
        throughput_msg_s=searched["messages"]["run"].map(finished).astype(float),
    )
    of_first = searched["cpu"][searched["cpu"]["run"].eq(chosen[0])]
    searched["cpu"] = pd.concat([of_first.assign(run=run) for run in chosen], ignore_index=True)
    beside = searched["cpu"]["run"].isin(chosen[1:]) & searched["cpu"]["kind"].eq("host")
    searched["cpu"].loc[beside, "total_cores"] += others_cores
    plan = SearchPlan(from_msg_s=1000, to_msg_s=4000, within_share=1, hold=Hold(latency_p99_s=9))
    search = json.dumps({"repeats": 1, **plan.model_dump(exclude_none=True)})
    rows = frames["planned"][frames["planned"]["point"].isin(searched["runs"]["point"])]
    searched["planned"] = conform("planned", rows.assign(search_place=1, search=search))
    return stats.complete(searched)["searches"]


def test_what_was_found_is_told_with_its_figures(recorded: Tables) -> None:
    """The rates on both sides, the failure at the higher, and the throughput at the lower."""
    searches = as_searched(recorded, 1.0, 0.7)
    [row] = searches.to_dict("records")
    assert (row["held_rate_msg_s"], row["broken_rate_msg_s"]) == (2000, 4000)
    assert (row["search_ends"], row["search_runs"], row["held_repeats"]) == ("found", 2, 1)
    assert row["throughput_msg_s"] == 2000
    low, middle, high = (row[f"limit_rate_msg_s{end}"] for end in ("_low", "", "_high"))
    assert low <= 2000 < middle < 4000 <= high
    assert row["text"].startswith(
        f"At p99 <= 9000 ms it sustains {low:.0f} to {high:.0f} msg/sec (95 % interval of the"
        " limit): most runs hold at 2000, and not at 4000, where throughput 70.0 % of the offered"
    )
    assert str(row["text"]).endswith("; finished in the window: 2000 msg/sec.")
    [content] = contents({**recorded, "searches": searches}, "searches", row["test_case"])
    assert content.words[-1] == row["text"]
    assert forms.frame(content)["holds at, msg/sec"].item() == 2000


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        (
            (1.0, 0.7),
            "(95 % interval) with p99 <= 9000 ms: most runs hold at 2,000, and not at 4,000",
        ),
        ((1.0, 1.0), ": at least 4,000 msg/sec, the highest that was searched, with p99 <="),
        ((1.0,), "is not finished (so far it holds at 2000 msg/sec): run the plan again"),
    ],
)
def test_the_answer_has_the_limit(recorded: Tables, shares: tuple[float, ...], words: str) -> None:
    """It has the interval, the failure beyond it, and what saturated on tester or host there."""
    frames = {**stats.complete(recorded), "searches": as_searched(recorded, *shares)}
    [answer] = answers(frames, ["sustained"])
    [sentence] = map(forms.plain, answer.sentences)
    assert words in sentence
    assert ("(throughput 70.0 % of the offered rate)" in sentence) == (0.7 in shares)


def test_a_rate_that_others_may_have_broken_is_tried_again(recorded: Tables) -> None:
    """One such run decides nothing; if all runs of a rate are disturbed, the text says so."""
    words = "Others had CPU of the host whenever that rate did not hold"
    [once] = as_searched(recorded, 1.0, 0.7, others_cores=0.6).to_dict("records")
    assert (once["search_ends"], once["search_runs"]) == ("unfinished", 2)
    [always] = as_searched(recorded, 1.0, 0.7, 0.7, 0.7, others_cores=0.6)["text"]
    assert words in always
    [held] = as_searched(recorded, 1.0, 1.0, 1.0, 1.0, others_cores=0.6).to_dict("records")
    assert held["search_ends"] == "beyond"
    assert words not in str(held["text"])


@pytest.mark.parametrize(
    ("shares", "ends", "words"),
    [
        ((1.0,), "unfinished", "(so far it holds at 2000 msg/sec): run the plan again"),
        ((0.5,), "unfinished", "(so far not at 2000 msg/sec)"),
        ((1.0, 1.0), "beyond", "it sustains at least 4000 msg/sec, the highest that was"),
    ],
)
def test_a_search_without_both_ends_says_so(
    recorded: Tables, shares: tuple[float, ...], ends: str, words: str
) -> None:
    """Either it is unfinished, or its bounds were too low."""
    [row] = as_searched(recorded, *shares).to_dict("records")
    assert row["search_ends"] == ends
    assert words in str(row["text"])
