"""Rates of two layouts between which each of them ends, against each other."""

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables

from mqperf.pages.figures.answers import contrast_sheet
from mqperf.pages.figures.marks import LINE
from mqperf.pages.questions.comparison import (
    KEPT_ENDS,
    LIMIT_ENDS,
    ONCE,
    answer,
    change,
    limits,
)
from mqperf.study.stats.contrasts import contrasts_of_rates
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, conform, empty

LAYOUTS = (("cmsm", "classic"), ("cmsm", "mirrored"))


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


def frames(repeats: int) -> Tables:
    return tables(Shape(layouts=LAYOUTS, test_cases=("rpc-cast",), threads=(10,), repeats=repeats))


def compared_rates(
    first: tuple[float, float], second: tuple[float, float], limit: str | None = None
) -> pd.DataFrame:
    """Their contrast."""
    return contrasts_of_rates(frames(1), rates(first, second, limit), "queues", KEPT_ENDS)


NOT_KNOWN = float("nan")


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
