"""Comparisons of two layouts by the rates between which each of them saturates."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind
from staircases import CLASSIC, CLIMB, LAYOUTS, MIRRORED, climbed, frames

from mqperf.base.errors import TableError
from mqperf.pages.figures.answers import contrast_sheet
from mqperf.pages.figures.marks import LINE
from mqperf.pages.questions.comparison import (
    KEPT_ENDS,
    ONCE,
    answer,
    change,
)
from mqperf.pages.questions.question import MORE_REPEATS, NARROWER
from mqperf.pages.report import comparison as words
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.forms import plain
from mqperf.study.stats.between_rates import limits_compared
from mqperf.study.stats.bottleneck import LOAD_GENERATORS
from mqperf.study.stats.compare import MIN_EFFECT, POINT_KEYS
from mqperf.study.stats.complete import compared
from mqperf.study.stats.contrasts import contrasts_of_rates, contrasts_of_repeats
from mqperf.study.stats.offered_rates import middle_rates
from mqperf.study.stats.searches import LIMIT_ENDS, limits
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, conform, empty


def rates(
    first: tuple[float, float], second: tuple[float, float], limit: str | None = None
) -> pd.DataFrame:
    """The kept and missed rates of two kinds of queue; ``limit`` is that of the first."""
    kept, missed = zip(first, second, strict=True)
    return pd.DataFrame(
        {
            "system": "rabbitmq",
            "topology": "cmsm",
            "queues": ["classic", "mirrored"],
            "test_case": "rpc-cast",
            "kept_rate_msg_s": kept,
            "missed_rate_msg_s": missed,
            "limit": [limit, None],
            "doubted": None,
        }
    )


def compared_rates(
    first: tuple[float, float], second: tuple[float, float], limit: str | None = None
) -> pd.DataFrame:
    """The contrast of these rates."""
    return contrasts_of_rates(frames(1), rates(first, second, limit), "queues", KEPT_ENDS)


NOT_KNOWN = float("nan")


@pytest.mark.parametrize(
    ("doubted", "ratio"), [(None, (400 / 220, 440 / 200)), ("lost", (400 / 110, 440 / 100))]
)
def test_each_side_is_its_best_of_any_load(doubted: str | None, ratio: tuple[float, float]) -> None:
    """Thread counts are not compared pairwise; a doubted rate is no best."""
    few = rates((100, 110), (300, 330)).assign(threads=1)
    many = rates((200, 220), (400, 440)).assign(threads=8)
    many.loc[many["queues"].eq("classic"), "doubted"] = doubted
    both = pd.concat([few, many], ignore_index=True)
    [row] = contrasts_of_rates(frames(1), both, "queues", KEPT_ENDS).to_dict("records")
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("first", "second", "limit", "words"),
    [
        ((100, 200), (50, 100), None, "CAST shows no clear difference (\N{MINUS SIGN}75 to 0 %)"),
        ((100.2, 200), (50, 100), None, "CAST shows no clear difference (\N{MINUS SIGN}75 to 0 %)"),
        ((100, 200), (25, 50), None, "CAST \N{MINUS SIGN}88 to \N{MINUS SIGN}50 %"),
        ((100, NOT_KNOWN), (25, 50), None, "CAST \N{MINUS SIGN}50 % or lower"),
        ((100, 200), (25, 50), "tester", "CAST \N{MINUS SIGN}50 % or lower"),
        ((NOT_KNOWN, 100), (200, 400), None, "CAST +100 % or higher"),
        ((100, 200), (400, NOT_KNOWN), None, "CAST +100 % or higher"),
    ],
)
def test_open_rates_are_compared_by_a_bound(
    first: tuple[float, float], second: tuple[float, float], limit: str | None, words: str
) -> None:
    """So are rates that load generators limit; a change of less than half a percent is none."""
    [row] = compared_rates(first, second, limit).to_dict("records")
    assert change({**row, "subject": "CAST"}) == words
    figure = contrast_sheet(pd.DataFrame([{**row, "what": "x"}]), FIGURE)
    [axes] = figure.axes
    assert np.isfinite(axes.get_xlim()).all()
    marks = {line.get_marker() for line in axes.lines} - {"None"}
    assert marks == {"<" if "lower" in words else ">" if "higher" in words else "o"}


def test_a_long_label_is_wrapped_and_complete() -> None:
    """It has several lines where one has no room for it, and the figure is higher."""
    [row] = compared_rates((100, 200), (25, 50), None).to_dict("records")
    what = (
        "Client -> Slave-1, Server -> Slave-2 against Client -> Master, Server -> Master"
        " at reply-to direct"
    )
    short, long = (contrast_sheet(pd.DataFrame([{**row, "what": w}]), FIGURE) for w in ("x", what))
    [label] = [text.get_text() for text in long.axes[0].get_yticklabels()]
    assert label.replace("\n", " ") == f"CAST, {what}"
    assert max(map(len, label.split("\n"))) <= LINE
    assert long.get_figheight() > short.get_figheight()


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("second", "repeats", "marked"),
    [((25.0, 50.0), 1, True), ((25.0, 50.0), 3, False), ((50.0, 150.0), 1, False)],
)
def test_a_difference_of_single_runs_is_marked(
    second: tuple[float, float], repeats: int, *, marked: bool
) -> None:
    """It is not marked if there are several runs, or if the sides do not differ."""
    rows = conform("saturation_rates", rates((100, 200), second).assign(threads=10))
    found = answer({**frames(repeats), "saturation_rates": rows, "doubts": empty("doubts")})
    assert found is not None
    assert (ONCE in found.settle) is marked


def test_searches_that_end_at_an_end_of_their_rates_are_compared() -> None:
    """A search that held the highest rate, or not even the lowest, has one known end."""
    searches = pd.DataFrame(
        {
            "search_ends": ["beyond", "below", "found", "unfinished"],
            "held_rate_msg_s": [4000.0, NOT_KNOWN, 900.0, 900.0],
            "broken_rate_msg_s": [NOT_KNOWN, 500.0, 1100.0, 1100.0],
            "limit_rate_msg_s_low": [NOT_KNOWN, NOT_KNOWN, 950.0, NOT_KNOWN],
            "limit_rate_msg_s_high": [NOT_KNOWN, NOT_KNOWN, 1050.0, NOT_KNOWN],
        }
    )
    known = limits(searches)[[*LIMIT_ENDS]].fillna(0).to_numpy().tolist()
    assert known == [[4000, 0], [0, 500], [950, 1050], [0, 0]]


@pytest.mark.parametrize(
    ("first", "second", "limit"),
    [
        ((100, NOT_KNOWN), (100, NOT_KNOWN), None),
        ((100, NOT_KNOWN), (50, 200), None),
        ((100, 200), (400, 800), "tester"),
    ],
)
def test_rates_open_on_both_sides_are_not_compared(
    first: tuple[float, float], second: tuple[float, float], limit: str | None
) -> None:
    """Nothing is known of them: each side may be above the other."""
    assert compared_rates(first, second, limit).empty


def test_repeated_staircases_have_an_interval_of_their_repeats() -> None:
    """It is Welch's of the logarithms of the middle rates of where each repeat ends."""
    found = climbed(CLASSIC, MIRRORED)
    [row] = contrasts_of_repeats(found, "queues").to_dict("records")
    kept = [CLIMB[capacity >= CLIMB].max() for capacity in (*CLASSIC, *MIRRORED)]
    middles = np.sqrt([rate * CLIMB[rate + 1 < CLIMB].min() for rate in kept])
    rates = middle_rates(found)[found["runs"].sort_values(["queues", "repeat"])["run"]]
    assert rates.tolist() == pytest.approx(middles.tolist(), rel=0.01)
    logs = np.log(rates.to_numpy())
    expected = ttest_ind(logs[3:], logs[:3], equal_var=False).confidence_interval()
    result = (row["ratio_low"], row["ratio_high"])
    assert result == pytest.approx(np.exp([expected.low, expected.high]).tolist())
    assert row["interval_kind"] == "repeats"


def test_a_spread_of_staircases_hides_no_answer() -> None:
    """The interval includes the spread, so that the doubt does not hide the comparison."""
    found = climbed(CLASSIC, MIRRORED)
    points = found["runs"]["point"].unique()
    spread = pd.DataFrame({"point": points, "kind": "spread"})
    result = answer({**found, "doubts": conform("doubts", spread)})
    assert result is not None
    [sentence] = [plain(text) for text in result.sentences]
    assert "cannot be compared" not in sentence
    assert sentence.endswith(" %).")


@pytest.mark.takes_long
@pytest.mark.parametrize(
    ("mirrored", "settled"), [((320.0,), ONCE), ((600.0,), MORE_REPEATS), (MIRRORED, None)]
)
def test_repeats_are_suggested_once_and_only_without_any(
    mirrored: tuple[float, ...], settled: Text | None
) -> None:
    """They would confirm a difference or find one; other rates would say no more."""
    result = answer(climbed(CLASSIC[: len(mirrored)], mirrored))
    assert result is not None
    found = [text for text in (ONCE, MORE_REPEATS, NARROWER) if text in result.settle]
    assert found == ([settled] if settled else [])


@pytest.mark.parametrize("mirrored", [(300.0, 1e9, 1e9), (1e9, 1e9, 1e9)])
def test_a_single_repeat_with_known_ends_has_no_interval(
    mirrored: tuple[float, ...],
) -> None:
    """The other repeats have no known end."""
    assert contrasts_of_repeats(climbed(CLASSIC, mirrored), "queues").empty


def test_open_staircases_are_compared_by_their_known_end() -> None:
    """The known end gives a bound, as for single runs."""
    result = answer(climbed(CLASSIC, (1e9, 1e9, 1e9)))
    assert result is not None
    assert [plain(text)[-12:] for text in result.sentences] == ["% or higher."]


@pytest.mark.takes_long
@pytest.mark.parametrize(("disturbed", "counted"), [(1, 2), (2, None)])
def test_repeats_of_staircases_on_a_noisy_host_do_not_count(
    disturbed: int, counted: int | None
) -> None:
    """The remaining repeats do; if these are not two, a side is doubted."""
    found = climbed(CLASSIC, MIRRORED)
    rows = found["runs"].query("queues == 'mirrored'").head(disturbed)[["run", "point"]]
    doubts = conform("doubts", rows.assign(kind="noisy-host"))
    [*result] = contrasts_of_repeats({**found, "doubts": doubts}, "queues").to_dict("records")
    assert [row["repeats_b"] for row in result] == ([counted] if counted else [])
    answered = answer({**found, "doubts": doubts})
    assert answered is not None
    assert ("cannot be compared" in plain(answered.sentences[0])) is (counted is None)


@pytest.mark.takes_long
def test_rates_are_compared_where_repeats_have_no_interval() -> None:
    """Each layout is compared by itself."""
    layouts = (*LAYOUTS, ("cs1ss2", "classic"), ("cs1ss2", "mirrored"))
    result = answer(climbed(CLASSIC, MIRRORED, CLASSIC, (1e9, 1e9, 1e9), layouts=layouts))
    assert result is not None
    first, second, *_ = [plain(text) for text in result.sentences]
    assert first.endswith(" %).")
    assert second.endswith(" or higher.")


def test_two_sets_of_staircases_are_compared_by_their_rates() -> None:
    """Means over all of their steps reflect the offered rates, and are not compared."""
    faster = [tuple(1.25 * rate for rate in rates) for rates in (CLASSIC, MIRRORED)]
    result = compared(climbed(CLASSIC, MIRRORED), climbed(*faster))
    assert result["comparison"]["figure"].tolist() == [FIGURE] * 2
    assert result["comparison"]["ratio"].tolist() == pytest.approx([1.25, 1.25], rel=0.01)
    assert result["sustained_compared"].empty


def test_a_limit_of_load_generators_gives_no_middle_rate() -> None:
    """The system may keep up with more."""
    found = climbed(CLASSIC, MIRRORED)
    tester = found["bottlenecks"].assign(bottleneck=LOAD_GENERATORS)
    assert middle_rates({**found, "bottlenecks": tester}).isna().all()


def searched(*found: tuple[float, float], **more: object) -> Tables:
    """Tables of searches that found these limits, one for each kind of queue."""
    low, high = zip(*found, strict=True)
    rows = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": ["classic", "mirrored"][: len(found)],
        "test_case": "rpc-cast",
        "threads": 10,
        "hold": "p99 <= 100 ms",
        "search_ends": "found",
        "limit_rate_msg_s": np.sqrt(np.multiply(low, high)),
        "limit_rate_msg_s_low": low,
        "limit_rate_msg_s_high": high,
        **more,
    }
    searches = conform("searches", pd.DataFrame(rows))
    return {**frames(1), "searches": searches, "doubts": empty("doubts")}


ALIKE = (900.0, 1100.0)


@pytest.mark.parametrize(
    ("found", "ratio", "verdict"),
    [
        ((1900.0, 2100.0), (1900 / 1100, 2100 / 900), "better"),
        ((450.0, 500.0), (450 / 1100, 500 / 900), "worse"),
        ((1000.0, 1200.0), (1000 / 1100, 1200 / 900), "cannot tell"),
    ],
)
def test_two_searches_are_compared_by_their_limits(
    found: tuple[float, float], ratio: tuple[float, float], verdict: str
) -> None:
    """At a rate that both were offered, both have the same throughput, whatever their limits."""
    result = compared(searched(ALIKE, ALIKE), searched(found, ALIKE))
    rows = result["comparison"]
    first, second = rows[rows["figure"].eq(FIGURE)].to_dict("records")
    assert (first["ratio_low"], first["ratio_high"]) == pytest.approx(ratio)
    assert [row["verdict"] for row in (first, second)] == [verdict, "cannot tell"]
    assert first["value_b"] == pytest.approx(np.sqrt(np.prod(found)))
    assert first["ratio"] == pytest.approx(first["value_b"] / first["value_a"])
    assert {*rows["figure"]} > {FIGURE}
    assert result["sustained_compared"].empty
    lines = [*words.text_lines(**result)]
    assert any("(between rates)" in line and verdict in line for line in lines)
    assert not any("not set" in line for line in lines)
    assert words.LIMITS in [*words.rules(rows)]


@pytest.mark.parametrize(("min_effect", "verdict"), [(None, "cannot tell"), (0.02, "better")])
def test_limits_with_an_irrelevant_difference_have_no_verdict(
    min_effect: float | None, verdict: str
) -> None:
    """The width of their intervals does not matter."""
    found = searched((1000.0, 1001.0)), searched((1030.0, 1031.0))
    rows = compared(*found, min_effect=min_effect)["comparison"]
    [row] = rows[rows["figure"].eq(FIGURE)].to_dict("records")
    assert row["ratio_low"] > 1
    assert row["verdict"] == verdict


def tried(found: Tables, *rates: float) -> Tables:
    """The tables with all runs in one layout, at these rates."""
    one = {
        name: rows.assign(queues="classic") if "queues" in rows.columns else rows
        for name, rows in found.items()
    }
    at = dict(zip(found["runs"]["point"].unique(), rates, strict=True))
    return {**one, "runs": one["runs"].assign(rate_msg_s=one["runs"]["point"].map(at))}


def test_searches_that_tried_no_rate_in_common_are_compared_by_their_limits() -> None:
    """The second search may begin at another rate; other sets need a common point."""
    first = tried(searched(ALIKE), 700.0, 1400.0)
    second = tried(searched((1900.0, 2100.0)), 800.0, 1600.0)
    assert compared(first, second)["comparison"]["verdict"].tolist() == ["better"]
    neither = [{**side, "searches": empty("searches")} for side in (first, second)]
    with pytest.raises(TableError, match="no point in common"):
        compared(*neither)


def test_searches_for_something_else_have_no_limit_in_common() -> None:
    """Different limits of latency give different rates."""
    found = searched(ALIKE), searched((1900.0, 2100.0), hold="p99 <= 10 ms")
    assert FIGURE not in {*compared(*found)["comparison"]["figure"]}


def test_limits_are_compared_at_each_value_of_a_parameter_that_one_set_varies() -> None:
    """The other set has one value of this parameter in all of its runs."""
    lengths = searched(ALIKE, (450.0, 550.0), queues="classic", payload_bytes=[256, 4096])
    short = searched((1900.0, 2100.0))
    runs = short["runs"].assign(payload_bytes=256)
    rows = limits_compared(lengths, {**short, "runs": runs}, POINT_KEYS, MIN_EFFECT)
    assert rows[["payload_bytes", "verdict"]].to_numpy().tolist() == [[256, "better"]]
    none = short["runs"].drop(columns="payload_bytes", errors="ignore")
    assert limits_compared(lengths, {**short, "runs": none}, POINT_KEYS, MIN_EFFECT).empty
