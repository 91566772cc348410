"""Comparisons of two sets of runs: real differences are found, and no others are reported."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mqperf.base.errors import TableError
from mqperf.base.one_line import percents
from mqperf.front import api
from mqperf.front.cli import app
from mqperf.pages import figures
from mqperf.pages.report import comparison as page
from mqperf.study.stats import compared
from mqperf.study.stats.compare import POINT_KEYS, _repeats, compare, holm
from mqperf.study.stats.decided import SEQUENTIAL
from mqperf.study.stats.differences import differences
from mqperf.study.tables import Tables, conform, empty

pytestmark = pytest.mark.takes_long

THREADS = (1, 5, 10, 20, 50, 100)


def measured(  # noqa: PLR0913 (invented parameters)
    seed: int,
    *,
    repeats: int = 3,
    factor: float = 1.0,
    noise: float = 0.03,
    system: str = "rabbitmq",
    counts: Sequence[int] = THREADS,
) -> Tables:
    """Invented runs of a sweep; throughput is ``factor`` times the usual, latency its inverse."""
    random = np.random.default_rng(seed)
    rows: dict[str, list[dict[str, object]]] = {
        "runs": [],
        "messages": [],
        "latency": [],
        "cpu": [],
    }
    for key in _runs(system, repeats, counts):
        threads = int(str(key["threads"]))
        run_noise = np.exp(noise * random.normal(size=4))
        rate = 1000 * threads / (1 + 0.05 * threads) * factor * run_noise[0]
        latency = threads / rate * run_noise[1]
        rows["runs"].append(key | {"status": "done", "cpu_model": "Invented", "asked_s": 20.0})
        rows["messages"].append(key | {"throughput_msg_s": rate})
        rows["latency"].append(
            key | {"latency_mean_s": latency, "latency_p99_s": 3 * latency * run_noise[2]}
        )
        broker = {"process": "Master", "kind": "broker", "scope": "window"}
        rows["cpu"].append(key | broker | {"total_cores": rate / 4000 * run_noise[3]})
    return {name: conform(name, pd.DataFrame(records)) for name, records in rows.items()}


def _runs(system: str, repeats: int, counts: Sequence[int]) -> Iterator[dict[str, object]]:
    for threads in counts:
        point = f"{system}-{threads}"
        for repeat in range(1, repeats + 1):
            yield {
                "run": f"{point}-{repeat}",
                "point": point,
                "system": system,
                "topology": "cmsm",
                "queues": "classic",
                "test_case": "rpc-call",
                "threads": threads,
                "repeat": repeat,
            }


def test_a_verdict_may_be_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the option, a slower side B gives the exit code, and nothing else does."""
    sides = {"usual": measured(1), "slower": measured(2, factor=2 / 3), "other": measured(3)}
    monkeypatch.setattr(api, "read", lambda path: api.Results(path, sides[str(path)]))

    def code(*words: str) -> int:
        return CliRunner().invoke(app, ["compare", *words]).exit_code

    assert code("usual", "slower", "--fail-on", "worse") == 1
    assert code("slower", "usual", "--fail-on", "worse") == 0
    assert code("usual", "other", "--fail-on", "worse") == 0
    assert code("usual", "slower") == 0


def test_a_system_compared_with_itself_cannot_be_told_apart() -> None:
    """At most 5 % of comparisons without a difference have any verdict."""
    alarms, trials = 0, 40
    for seed in range(trials):
        frame = compare(measured(seed), measured(1000 + seed), min_effect=0.0)
        assert len(frame) == 4 * len(THREADS)
        alarms += bool((frame["verdict"] != "cannot tell").any())
    # 5 % of 40 is 2; more than 5 happen by chance once in seventy times.
    assert alarms <= 5


def test_a_difference_is_found() -> None:
    """A third less throughput gives worse throughput and latency, and equal CPU per message."""
    frame = compare(measured(1, repeats=5), measured(2, repeats=5, factor=0.65))
    verdicts = frame.groupby("figure")["verdict"].unique().map(list)
    assert verdicts["throughput_msg_s"] == ["worse"]
    assert verdicts["latency_mean_s"] == ["worse"]
    assert verdicts["cpu_per_message_s"] == ["cannot tell"]
    assert frame["ratio"].between(frame["ratio_low"], frame["ratio_high"]).all()


def test_swapped_sides_agree() -> None:
    """B / A and A / B agree."""
    a, b = measured(1, repeats=5), measured(2, repeats=5, factor=0.65)
    there, back = compare(a, b), compare(b, a)
    assert there["ratio"].to_numpy() == pytest.approx(1 / back["ratio"].to_numpy())
    swapped = {"worse": "better", "better": "worse", "cannot tell": "cannot tell"}
    assert list(there["verdict"].map(swapped)) == list(back["verdict"])


def test_intervals_of_ratios_hold_the_truth() -> None:
    """About 95 in 100 intervals contain the true ratio."""
    many = range(1, 361)
    a, b = (measured(n, repeats=4, factor=f, counts=many) for n, f in ((1, 1.0), (2, 1.2)))
    frame = compare(a, b)
    rows = frame[frame["figure"] == "throughput_msg_s"]
    held = rows["ratio_low"].lt(1.2) & rows["ratio_high"].gt(1.2)
    assert len(held) == len(many)
    assert 0.92 < held.mean() < 0.99


def test_a_small_difference_is_of_no_interest() -> None:
    """A difference below the minimum relevant one has no verdict, however certain."""
    a, b = measured(1, repeats=5, noise=0.0001), measured(2, repeats=5, noise=0.0001, factor=1.03)
    assert set(compare(a, b)["verdict"]) == {"cannot tell"}
    throughput = compare(a, b, min_effect=0.01).query("figure == 'throughput_msg_s'")
    assert set(throughput["verdict"]) == {"better"}


def within(share: float, tables: Tables) -> Tables:
    """The tables with an interval of throughput from within the runs."""
    rate = tables["messages"]["throughput_msg_s"]
    ends = {"low": rate * (1 - share), "high": rate * (1 + share)}
    named = {f"throughput_msg_s_within_{end}": values for end, values in ends.items()}
    return {**tables, "messages": tables["messages"].assign(**named)}


def test_single_runs_have_no_verdict() -> None:
    """A run on each side has at most an interval from within the runs, marked as such."""
    a, b = measured(1, repeats=1), measured(2, repeats=1, factor=3)
    frame = compare(within(0.01, a), within(0.01, b)).set_index("figure")
    assert set(frame["verdict"]) == {"cannot tell"}
    throughput, latency = frame.loc["throughput_msg_s"], frame.loc["latency_mean_s"]
    assert set(throughput["interval_kind"]) == {"within run"}
    width = throughput["ratio_high"] / throughput["ratio_low"]
    assert width.to_numpy() == pytest.approx(math.exp(2 * 0.01 * math.sqrt(2)), rel=1e-3)
    assert set(latency["interval_kind"]) == {"none"}
    assert latency["ratio_low"].isna().all()


def at(tables: Tables, start: str, minutes: int) -> Tables:
    """The tables with repeats that start ``minutes`` apart."""
    wait = pd.to_timedelta(minutes * tables["runs"]["repeat"].astype(int), unit="min")
    started = pd.Timestamp(start, tz="UTC") + wait
    return {**tables, "runs": conform("runs", tables["runs"].assign(started=started))}


def test_runs_that_were_not_in_turns_are_marked() -> None:
    """If all of A ran before all of B, the verdict says so, and what that means."""
    a, b = measured(1, repeats=5), measured(2, repeats=5, factor=0.65)
    blocks = compare(at(a, "2026-01-01 10:00", 20), at(b, "2026-01-02 10:00", 20))
    assert set(blocks["in_turns"]) == {"A first"}
    lines = list(page.text_lines(differences(a, b), blocks))
    assert sum("worse (not in turns)" in line for line in lines) > 6
    assert lines[-1].startswith("The verdicts marked (not in turns) assume that nothing but")
    assert page.APART in page.rules(blocks)
    turns = compare(at(a, "2026-01-01 10:00", 20), at(b, "2026-01-01 10:10", 20))
    assert set(turns["in_turns"]) == {"in turns"}
    assert not any("not in turns" in line for line in page.text_lines(differences(a, b), turns))
    assert set(compare(a, b)["in_turns"]) == {"not known"}


@pytest.mark.parametrize(
    ("order", "in_turns"),
    [
        ("ABABABAB", "in turns"),
        ("ABBAABBA", "in turns"),
        ("ABBA", "in turns"),
        ("ABBABA", "in turns"),  # a failed run, repeated at the end
        ("ABBABBA", "in turns"),  # a missing run
        ("AABBAABB", "in part"),
        ("AAABBBA", "in part"),
        ("AAABBB", "A first"),
        ("BAA", "B first"),
    ],
)
def test_turns_are_known_by_the_instants(order: str, in_turns: str) -> None:
    """In turns the side changes with every run; two blocks of each side are not turns."""
    sides = []
    for number, side in enumerate("AB"):
        places = [place for place, letter in enumerate(order) if letter == side]
        tables = measured(number, repeats=len(places))
        started = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(
            [places[repeat - 1] for repeat in tables["runs"]["repeat"]], unit="min"
        )
        sides.append({**tables, "runs": conform("runs", tables["runs"].assign(started=started))})
    assert set(compare(*sides)["in_turns"]) == {in_turns}


@pytest.mark.parametrize(
    ("unsure", "verdict"), [(0.0, {"better"}), (0.05, {"better"}), (0.3, {"cannot tell"})]
)
def test_what_clocks_may_have_made_is_no_difference(unsure: float, verdict: set[str]) -> None:
    """A latency halved by B is reported unless the clock uncertainty is as large; so is B / A."""
    sides = [measured(1, noise=0.01), measured(2, factor=2.0, noise=0.01)]
    for tables in sides:
        latency = tables["latency"]
        latency["latency_uncertainty_s"] = unsure * latency["latency_mean_s"]
    frame = compare(*sides)
    means = frame[frame["figure"] == "latency_mean_s"]
    assert set(means["verdict"]) == verdict
    assert set(compare(*sides[::-1]).query("figure == 'latency_mean_s'")["verdict"]) == (
        {"worse"} if verdict == {"better"} else verdict
    )
    assert set(frame.loc[frame["figure"] == "throughput_msg_s", "verdict"]) == {"better"}
    assert frame.loc[frame["figure"] == "throughput_msg_s", "clock_share"].eq(0).all()
    shares = 2 * -math.log1p(-unsure)
    assert means["clock_share"].to_numpy() == pytest.approx(math.expm1(shares), rel=0.05)
    assert ("by clocks)" in " ".join(comparison_lines(frame))) == (unsure > 0)


def test_a_latency_that_clocks_hide_is_not_told() -> None:
    """A latency no larger than the clock uncertainty has no ratio; other figures do."""
    sides = [measured(1), measured(2, factor=2.0)]
    for tables in sides:
        tables["latency"]["latency_uncertainty_s"] = 10.0
    frame = compare(*sides)
    means = frame[frame["figure"] == "latency_mean_s"]
    assert set(means["verdict"]) == {"cannot tell"}
    assert means["detectable"].isna().all()
    assert "better" in set(frame.loc[frame["figure"] == "throughput_msg_s", "verdict"])
    assert "(all by clocks)" in " ".join(comparison_lines(frame))


def comparison_lines(frame: pd.DataFrame) -> list[str]:
    """The comparison as terminal output."""
    return [*page.text_lines(conform("differences", pd.DataFrame()), frame)]


def test_points_beside_the_plan_are_left_out_and_named() -> None:
    """Points of an earlier plan in the folder are not compared."""
    a, b = measured(1), measured(2)
    earlier = {
        name: pd.concat(
            [frame, frame.assign(run="old-" + frame["run"], point="old-" + frame["point"])]
        )
        for name, frame in measured(3).items()
    }
    of_plan = a["runs"][["run", "point", "system"]]
    mixed = {**earlier, "planned": conform("planned", of_plan)}
    with pytest.raises(TableError, match="points which agree in"):
        compare(mixed, b)
    frames = compared(mixed, b)
    assert len(frames["comparison"]) == 4 * len(THREADS)
    [row] = frames["differences"].to_dict("records")
    assert row["what"] == "Left out, as the plan does not ask for it"
    assert row["value_in_a"].startswith("rabbitmq cmsm classic, rpc-call, 1 thread, window 20 s; ")
    assert row["value_in_a"].endswith("50 threads, window 20 s; and 1 more")
    assert row["value_in_b"] == "nothing"
    assert compared(mixed, mixed)["differences"]["value_in_b"].to_list() == [row["value_in_a"]]
    unplanned = {**mixed, "planned": mixed["planned"].assign(point="elsewhere")}
    with pytest.raises(TableError, match="the plan of B asks for none of the points"):
        compared(a, unplanned)


def test_what_these_repeats_would_show() -> None:
    """A difference of the stated detectable size is detected in most comparisons."""
    equal = compare(measured(1, repeats=6), measured(2, repeats=6))
    unknown = equal[equal["verdict"] == "cannot tell"]
    shown = unknown["detectable"].median()
    assert 0.05 <= shown < 0.3
    lines = page.text_lines(differences(measured(1), measured(1)), equal)
    assert f"(shows {100 * unknown['detectable'].iloc[0]:.1f} % or more)" in " ".join(lines)
    decided = []
    for seed in range(6):
        larger = measured(300 + seed, repeats=6, factor=1 + shown)
        rows = compare(measured(100 + seed, repeats=6), larger)
        decided += list(rows.query("figure == 'throughput_msg_s'")["verdict"] == "better")
    assert 0.6 < np.mean(decided) < 0.99
    assert compare(measured(1, repeats=1), measured(2, repeats=1))["detectable"].isna().all()


@pytest.mark.parametrize(("difference", "repeats"), [(1.0, 17), (0.8, 26), (0.5, 64)])
def test_repeats_that_decide(difference: float, repeats: int) -> None:
    """The numbers equal Cohen's tables for differences in standard deviations (5 %, power 80 %)."""
    assert _repeats(1.0, 1.0, difference, 0.05) == repeats


def test_repeats_are_told_where_they_would_decide() -> None:
    """Neither with a verdict nor without repeats; "enough" if a relevant difference would show."""
    frame = compare(measured(1), measured(2, factor=1.2))
    decided = frame["verdict"] != "cannot tell"
    assert 0 < decided.sum() < len(frame)
    assert frame.loc[decided, "repeats_needed"].isna().all()
    assert frame.loc[~decided, "repeats_needed"].gt(3).any()
    same = compare(measured(1, repeats=6, noise=0.001), measured(2, repeats=6, noise=0.001))
    assert {page.repeats_to_decide(row) for row in same.to_dict("records")} == {"enough"}
    single = compare(measured(1, repeats=1), measured(2, repeats=1))
    assert {page.repeats_to_decide(row) for row in single.to_dict("records")} == {"not known"}
    loud = compare(measured(1, noise=3.0), measured(2, noise=3.0), min_effect=0.01)
    assert "more than 100" in {page.repeats_to_decide(row) for row in loud.to_dict("records")}


def test_what_was_decided_after_each_repeat_tells_the_repeats_and_is_drawn_solid() -> None:
    """It is shown as based on repeats: the number needed is known, and the mark is solid."""
    frame = compare(measured(1), measured(2)).assign(interval_kind=SEQUENTIAL, repeats_needed=9)
    row = frame.iloc[0].to_dict() | {"verdict": "cannot tell"}
    assert page.repeats_to_decide(row) == "9"
    assert page.repeats_to_decide(row | {"repeats_needed": pd.NA}) == "more than 20"
    for kind, style in ((SEQUENTIAL, "-"), ("repeats", "-"), ("within run", ":")):
        sheet = figures.ratio_sheet(frame.assign(interval_kind=kind))
        assert sheet.axes[0].lines[0].get_linestyle() == style


def test_two_systems_are_compared_by_other_keys() -> None:
    """By default the system is a key of a point; without that key, two systems are compared."""
    a, b = measured(1), measured(2, system="zeromq", factor=2)
    with pytest.raises(TableError, match="no point in common: system of A: rabbitmq, of B: zerom"):
        compare(a, b)
    frame = compare(a, b, keys=POINT_KEYS[1:])
    assert len(frame) == 4 * len(THREADS)
    assert frame["system"].isna().all()


def test_points_are_not_mixed() -> None:
    """Keys that do not distinguish two points are refused."""
    with pytest.raises(TableError, match="A has 6 points which agree in system"):
        compare(measured(1), measured(2), keys=("system",))


def test_doubted_points_are_marked() -> None:
    """A point with doubts is compared, and the kinds of its doubts are shown."""
    a = dict(measured(1))
    doubt = {"run": "rabbitmq-50-1", "point": "rabbitmq-50", "kind": "spread", "text": "spreads"}
    a["doubts"] = conform("doubts", pd.DataFrame([doubt, doubt]))
    frame = compare(a, measured(2))
    marked = frame[frame["doubted"].notna()]
    assert set(marked["threads"]) == {50}
    assert set(marked["doubted"]) == {"A: spread"}


def test_holm() -> None:
    """The textbook example, with one unknown p-value."""
    adjusted = holm(np.array([0.01, 0.04, np.nan, 0.03, 0.005]))
    assert adjusted == pytest.approx([0.03, 0.06, np.nan, 0.06, 0.02], nan_ok=True)


def test_differences_come_with_words() -> None:
    """Equal facts are not listed; facts of one side only are."""
    a, b = dict(measured(1)), dict(measured(2, repeats=5))
    b["runs"] = b["runs"].assign(cpu_model="Other", os="Debian")
    differing = differences(a, b).set_index("what")
    assert list(differing.loc["Processor"]) == ["hardware", "Invented", "Other"]
    assert list(differing.loc["Operating system"]) == ["hardware", "not stated", "Debian"]
    assert list(differing.loc["Whole runs of each point"]) == ["measuring", "3", "5"]
    assert len(differing) == 3
    assert differences(a, a).empty


def test_generators_background_loads_and_actions_are_differences() -> None:
    """Each of them alone can change the figures."""
    a, b = dict(measured(1)), dict(measured(2))
    b["runs"] = b["runs"].assign(generator="java", load_beside="notify: 10 threads")
    did = b["runs"].assign(action="kill", node="Master", commanded_s=8.5)
    b["outages"] = conform("outages", did[["run", "point", "action", "node", "commanded_s"]])
    differing = differences(a, b).set_index("what")["value_in_b"]
    assert differing.to_dict() == {
        "Generator": "java",
        "Background load": "notify: 10 threads",
        "Actions": "kill of Master at 8.5 s",
    }


def test_points_of_one_side_are_told_apart_by_all_that_varies() -> None:
    """Unset parameters and unknown numbers of threads distinguish points too."""
    a, b = dict(measured(1)), dict(measured(1))
    sized = b["runs"].assign(point=b["runs"]["point"] + "-large", payload_bytes=65536)
    b["runs"] = pd.concat([b["runs"], sized], ignore_index=True).assign(processes=1)
    apart = differences(a, b).set_index("what").loc["Points that the other has not"]
    assert (apart["value_in_a"], apart["value_in_b"]) == ("0", str(len(THREADS)))
    b["runs"] = measured(1, counts=THREADS[1:])["runs"]
    a["runs"].loc[a["runs"]["threads"].eq(THREADS[0]), "threads"] = pd.NA
    apart = differences(a, b).set_index("what").loc["Points that the other has not"]
    assert (apart["value_in_a"], apart["value_in_b"]) == ("1", "0")


def test_the_text_says_what_differs_first() -> None:
    """Differences between A and B come before any number."""
    a, b = measured(1, repeats=5), measured(2, factor=0.5)
    frame, differing = compare(a, b), differences(a, b)
    lines = list(page.text_lines(differing, frame))
    assert lines[:2] == ["A and B differ in", "  Whole runs of each point: 5 | 3"]
    assert lines[-4].startswith("B against A, throughput at 6 points: worse at 6 (")


def test_a_sentence_for_each_figure_answers() -> None:
    """It gives the change if there is a verdict, or else what the intervals leave open."""
    a, b = measured(1, repeats=5), measured(2, repeats=5)
    b["messages"].loc[b["messages"]["threads"].eq(THREADS[0]), "throughput_msg_s"] *= 2
    frame = compare(a, b)
    frame.loc[frame["threads"].eq(THREADS[1]), "doubted"] = "in B: noisy-host"
    throughput, latency, *_ = page.answers(frame)
    open_rows = frame[frame["figure"].eq("throughput_msg_s") & frame["verdict"].eq("cannot tell")]
    ends = percents(open_rows["ratio_low"].min(), open_rows["ratio_high"].max())
    assert throughput.startswith("B against A, throughput at 6 points: better at 1 (+")
    assert throughput.endswith(f"cannot tell at 5 ({ends}), doubted at 1.")
    assert latency.startswith("B against A, latency at 6 points: cannot tell at 6 (")


def test_the_picture_has_a_row_for_every_point() -> None:
    """There is a panel per figure; points are rows, and the axis is symmetric."""
    sheet = figures.ratio_sheet(compare(measured(1), measured(2, factor=0.5)))
    panels = sheet.axes
    assert len(panels) == 4
    assert len(panels[0].get_yticks()) == len(THREADS)
    low, high = panels[0].get_xlim()
    assert low * high == pytest.approx(1)


def test_empty_tables_have_nothing_in_common() -> None:
    """A folder in which all runs failed is a clear error."""
    nothing = {name: empty(name) for name in ("runs", "messages", "latency", "cpu")}
    with pytest.raises(TableError, match="no point in common: A has no figures at all"):
        compare(nothing, measured(1))
