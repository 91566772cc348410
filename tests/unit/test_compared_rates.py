"""Rates of two layouts between which each of them ends, against each other."""

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
    """What two kinds of queue keep; ``limit`` is that of the first."""
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
    """Their contrast."""
    return contrasts_of_rates(frames(1), rates(first, second, limit), "queues", KEPT_ENDS)


NOT_KNOWN = float("nan")


@pytest.mark.parametrize(
    ("doubted", "ratio"), [(None, (400 / 220, 440 / 200)), ("lost", (400 / 110, 440 / 100))]
)
def test_each_side_is_its_best_of_any_load(doubted: str | None, ratio: tuple[float, float]) -> None:
    """Not every number of threads against every other; a doubted rate is no best."""
    few = rates((100, 110), (300, 330)).assign(threads=1)
    many = rates((200, 220), (400, 440)).assign(threads=8)
    many.loc[many["queues"].eq("classic"), "doubted"] = doubted
    both = pd.concat([few, many], ignore_index=True)
    [row] = contrasts_of_rates(frames(1), both, "queues", KEPT_ENDS).to_dict("records")
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("first", "second", "limit", "words"),
    [
        ((100, 200), (50, 100), None, "CAST is not told apart (\N{MINUS SIGN}75 to 0 %)"),
        ((100.2, 200), (50, 100), None, "CAST is not told apart (\N{MINUS SIGN}75 to 0 %)"),
        ((100, 200), (25, 50), None, "CAST \N{MINUS SIGN}88 to \N{MINUS SIGN}50 %"),
        ((100, NOT_KNOWN), (25, 50), None, "CAST \N{MINUS SIGN}50 % or lower"),
        ((100, 200), (25, 50), "tester", "CAST \N{MINUS SIGN}50 % or lower"),
        ((NOT_KNOWN, 100), (200, 400), None, "CAST +100 % or higher"),
        ((100, 200), (400, NOT_KNOWN), None, "CAST +100 % or higher"),
    ],
)
def test_of_rates_that_end_nowhere_one_side_may_be_told(
    first: tuple[float, float], second: tuple[float, float], limit: str | None, words: str
) -> None:
    """As where it is load generators that end it; a change of less than half a percent is none."""
    [row] = compared_rates(first, second, limit).to_dict("records")
    assert change({**row, "subject": "CAST"}) == words
    figure = contrast_sheet(pd.DataFrame([{**row, "what": "x"}]), FIGURE)
    [axes] = figure.axes
    assert np.isfinite(axes.get_xlim()).all()
    marks = {line.get_marker() for line in axes.lines} - {"None"}
    assert marks == {"<" if "lower" in words else ">" if "higher" in words else "o"}


def test_what_is_compared_stands_beside_its_row_to_the_last_word() -> None:
    """On several lines, where one has no room for it; the drawing is higher then."""
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


@pytest.mark.parametrize(
    ("second", "repeats", "told"),
    [((25.0, 50.0), 1, True), ((25.0, 50.0), 3, False), ((50.0, 150.0), 1, False)],
)
def test_what_is_told_of_one_run_each_is_said_to_be(
    second: tuple[float, float], repeats: int, *, told: bool
) -> None:
    """Not where it is of several, or where nothing is told apart."""
    rows = conform("saturation_rates", rates((100, 200), second).assign(threads=10))
    found = answer({**frames(repeats), "saturation_rates": rows, "doubts": empty("doubts")})
    assert found is not None
    assert (ONCE in found.settle) is told


def test_searches_that_end_at_an_end_of_their_rates_are_compared() -> None:
    """One held at the highest rate, one not even at the lowest: an end of each is known."""
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
def test_what_rates_leave_open_on_both_sides_is_not_told(
    first: tuple[float, float], second: tuple[float, float], limit: str | None
) -> None:
    """Nothing is known of it: each side may be above the other."""
    assert compared_rates(first, second, limit).empty


def test_repeated_staircases_have_an_interval_of_their_repeats() -> None:
    """Welch's of the logarithms of the rates in the middle of where each of them ends."""
    found = climbed(CLASSIC, MIRRORED)
    [row] = contrasts_of_repeats(found, "queues").to_dict("records")
    kept = [CLIMB[capacity >= CLIMB].max() for capacity in (*CLASSIC, *MIRRORED)]
    middles = np.sqrt([rate * CLIMB[rate + 1 < CLIMB].min() for rate in kept])
    rates = middle_rates(found)[found["runs"].sort_values(["queues", "repeat"])["run"]]
    assert rates.tolist() == pytest.approx(middles.tolist(), rel=0.01)
    logs = np.log(rates.to_numpy())
    expected = ttest_ind(logs[3:], logs[:3], equal_var=False).confidence_interval()
    told = (row["ratio_low"], row["ratio_high"])
    assert told == pytest.approx(np.exp([expected.low, expected.high]).tolist())
    assert row["interval_kind"] == "repeats"


def test_that_repeats_of_staircases_differ_hides_no_answer() -> None:
    """As that is in the interval; nor is it said that repeats would tell, where there are some."""
    found = climbed(CLASSIC, MIRRORED)
    points = found["runs"]["point"].unique()
    spread = pd.DataFrame({"point": points, "kind": "spread"})
    told = answer({**found, "doubts": conform("doubts", spread)})
    assert told is not None
    [sentence] = [plain(text) for text in told.sentences]
    assert "cannot be told" not in sentence
    assert sentence.endswith(" %).")


@pytest.mark.parametrize(
    ("mirrored", "settled"), [((320.0,), ONCE), ((600.0,), MORE_REPEATS), (MIRRORED, None)]
)
def test_repeats_are_asked_for_once_and_where_there_are_none(
    mirrored: tuple[float, ...], settled: Text | None
) -> None:
    """To confirm what is told apart, else to tell it apart; other rates would say no more."""
    told = answer(climbed(CLASSIC[: len(mirrored)], mirrored))
    assert told is not None
    found = [text for text in (ONCE, MORE_REPEATS, NARROWER) if text in told.settle]
    assert found == ([settled] if settled else [])


@pytest.mark.parametrize("mirrored", [(300.0, 1e9, 1e9), (1e9, 1e9, 1e9)])
def test_single_repeats_of_staircases_whose_ends_are_known_have_no_interval(
    mirrored: tuple[float, ...],
) -> None:
    """Others ended nowhere."""
    assert contrasts_of_repeats(climbed(CLASSIC, mirrored), "queues").empty


def test_staircases_that_end_nowhere_are_told_by_the_end_that_is_known() -> None:
    """As they are of single runs."""
    told = answer(climbed(CLASSIC, (1e9, 1e9, 1e9)))
    assert told is not None
    assert [plain(text)[-12:] for text in told.sentences] == ["% or higher."]


@pytest.mark.parametrize(("disturbed", "counted"), [(1, 2), (2, None)])
def test_repeats_of_staircases_while_others_used_the_host_do_not_count(
    disturbed: int, counted: int | None
) -> None:
    """The others tell it; where these are not two, a side is doubted."""
    found = climbed(CLASSIC, MIRRORED)
    rows = found["runs"].query("queues == 'mirrored'").head(disturbed)[["run", "point"]]
    doubts = conform("doubts", rows.assign(kind="noisy-host"))
    [*told] = contrasts_of_repeats({**found, "doubts": doubts}, "queues").to_dict("records")
    assert [row["repeats_b"] for row in told] == ([counted] if counted else [])
    answered = answer({**found, "doubts": doubts})
    assert answered is not None
    assert ("cannot be told" in plain(answered.sentences[0])) is (counted is None)


def test_what_repeats_do_not_tell_is_told_by_the_rates_between() -> None:
    """Each layout by itself."""
    layouts = (*LAYOUTS, ("cs1ss2", "classic"), ("cs1ss2", "mirrored"))
    told = answer(climbed(CLASSIC, MIRRORED, CLASSIC, (1e9, 1e9, 1e9), layouts=layouts))
    assert told is not None
    first, second, *_ = [plain(text) for text in told.sentences]
    assert first.endswith(" %).")
    assert second.endswith(" or higher.")


def test_two_sets_of_staircases_are_compared_by_what_they_keep_up_with() -> None:
    """Means over all of their steps, which are of what was offered, are no figures of theirs."""
    faster = [tuple(1.25 * rate for rate in rates) for rates in (CLASSIC, MIRRORED)]
    told = compared(climbed(CLASSIC, MIRRORED), climbed(*faster))
    assert told["comparison"]["figure"].tolist() == [FIGURE] * 2
    assert told["comparison"]["ratio"].tolist() == pytest.approx([1.25, 1.25], rel=0.01)
    assert told["sustained_compared"].empty


def test_load_generators_that_were_the_limit_tell_no_middle() -> None:
    """The system may keep up with more."""
    found = climbed(CLASSIC, MIRRORED)
    tester = found["bottlenecks"].assign(bottleneck=LOAD_GENERATORS)
    assert middle_rates({**found, "bottlenecks": tester}).isna().all()


def searched(*found: tuple[float, float], **more: object) -> Tables:
    """Runs of searches, which found these limits, of one kind of queue after the other."""
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
    """At a rate that both were offered, both have that throughput, however far they would go."""
    told = compared(searched(ALIKE, ALIKE), searched(found, ALIKE))
    rows = told["comparison"]
    first, second = rows[rows["figure"].eq(FIGURE)].to_dict("records")
    assert (first["ratio_low"], first["ratio_high"]) == pytest.approx(ratio)
    assert [row["verdict"] for row in (first, second)] == [verdict, "cannot tell"]
    assert first["value_b"] == pytest.approx(np.sqrt(np.prod(found)))
    assert first["ratio"] == pytest.approx(first["value_b"] / first["value_a"])
    assert {*rows["figure"]} > {FIGURE}
    assert told["sustained_compared"].empty
    lines = [*words.text_lines(**told)]
    assert any("(between rates)" in line and verdict in line for line in lines)
    assert not any("not set" in line for line in lines)
    assert words.LIMITS in [*words.rules(rows)]


@pytest.mark.parametrize(("min_effect", "verdict"), [(None, "cannot tell"), (0.02, "better")])
def test_limits_that_differ_by_less_than_matters_have_no_verdict(
    min_effect: float | None, verdict: str
) -> None:
    """However narrow their intervals are."""
    found = searched((1000.0, 1001.0)), searched((1030.0, 1031.0))
    rows = compared(*found, min_effect=min_effect)["comparison"]
    [row] = rows[rows["figure"].eq(FIGURE)].to_dict("records")
    assert row["ratio_low"] > 1
    assert row["verdict"] == verdict


def tried(found: Tables, *rates: float) -> Tables:
    """The runs of all layouts as runs of one, at these rates."""
    one = {
        name: rows.assign(queues="classic") if "queues" in rows.columns else rows
        for name, rows in found.items()
    }
    at = dict(zip(found["runs"]["point"].unique(), rates, strict=True))
    return {**one, "runs": one["runs"].assign(rate_msg_s=one["runs"]["point"].map(at))}


def test_searches_that_tried_no_rate_in_common_are_compared_by_their_limits() -> None:
    """As the second need not begin where the first does; other sets have to."""
    first = tried(searched(ALIKE), 700.0, 1400.0)
    second = tried(searched((1900.0, 2100.0)), 800.0, 1600.0)
    assert compared(first, second)["comparison"]["verdict"].tolist() == ["better"]
    neither = [{**side, "searches": empty("searches")} for side in (first, second)]
    with pytest.raises(TableError, match="no point in common"):
        compared(*neither)


def test_searches_for_something_else_have_no_limit_in_common() -> None:
    """Another latency is held up to another rate."""
    found = searched(ALIKE), searched((1900.0, 2100.0), hold="p99 <= 10 ms")
    assert FIGURE not in {*compared(*found)["comparison"]["figure"]}


def test_limits_are_compared_at_each_value_of_a_parameter_that_one_set_varies() -> None:
    """The other set has one value of it in all of its runs."""
    lengths = searched(ALIKE, (450.0, 550.0), queues="classic", payload_bytes=[256, 4096])
    short = searched((1900.0, 2100.0))
    runs = short["runs"].assign(payload_bytes=256)
    rows = limits_compared(lengths, {**short, "runs": runs}, POINT_KEYS, MIN_EFFECT)
    assert rows[["payload_bytes", "verdict"]].to_numpy().tolist() == [[256, "better"]]
    none = short["runs"].drop(columns="payload_bytes", errors="ignore")
    assert limits_compared(lengths, {**short, "runs": none}, POINT_KEYS, MIN_EFFECT).empty
