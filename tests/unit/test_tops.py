"""The headline point of a summary, and its description."""

import numpy as np
import pandas as pd
import pytest
from factory import Shape, tables
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from mqperf.pages.figures import palette, top_sheet
from mqperf.pages.questions import answers
from mqperf.pages.report.overview import overview
from mqperf.pages.report.tops import tops
from mqperf.pages.report.words import layouts
from mqperf.pages.sections.forms import plain
from mqperf.study.stats.sustained import FIGURE, best_first
from mqperf.study.tables import Tables, conform

LAYOUTS = (("cmsm", "classic"), ("cmsm", "mirrored"))


@pytest.fixture(scope="module")
def sound() -> Tables:
    """A plain and a mirrored sweep of CALL in three repeats, without doubts."""
    read = tables(Shape(layouts=LAYOUTS, test_cases=("rpc-call",), threads=(10, 20)))
    return {**read, "doubts": read["doubts"].iloc[:0]}


def doubted(read: Tables, kind: str, *points: str) -> Tables:
    """The tables with a doubt of this kind about these points."""
    runs = read["runs"].drop_duplicates("point")
    keys = [name for name in read["doubts"].columns if name in runs.columns]
    rows = runs.loc[runs["point"].isin(points), keys].assign(kind=kind, text="so it is")
    return {**read, "doubts": conform("doubts", rows)}


def best(read: Tables) -> pd.DataFrame:
    return tops(read, layouts(read["runs"]))


def answer_to(read: Tables, question: str) -> str:
    """The first sentence of the answer to this question."""
    [answered] = answers(read, [question])
    return plain(answered.sentences[0])


PLAIN, MIRRORED = (f"rabbitmq-cmsm-{queues}-rpc-call-t00" for queues in ("classic", "mirrored"))


def test_the_headline_is_sound_if_any_point_is(sound: Tables) -> None:
    """A higher doubtful point is only mentioned, and is in no ratio."""
    assert best(sound)["threads"].tolist() == [20, 20]
    read = doubted(sound, "noisy-host", f"{PLAIN}20")
    assert best(read)["threads"].tolist() == [10, 20]
    text = answer_to(read, "scaling")
    assert "with 10 threads" in text
    assert "1,240 msg/sec with 20 threads was measured, but is in doubt: noisy-host" in text


@pytest.mark.parametrize("kind", ["clock-offset", "probe-gap", "peak-at-edge", "wording"])
def test_doubts_about_something_else_change_no_top(sound: Tables, kind: str) -> None:
    """Doubts about CPU, latency and wording do not concern throughput."""
    assert best(doubted(sound, kind, f"{PLAIN}20"))["threads"].tolist() == [20, 20]


def test_where_no_point_is_sound_it_is_said(sound: Tables) -> None:
    """The highest is named with its doubts, and is in no percentage."""
    points = (f"{PLAIN}10", f"{PLAIN}20", f"{MIRRORED}10", f"{MIRRORED}20")
    read = doubted(sound, "lost", *points)
    text = answer_to(read, "scaling")
    assert text.startswith("CALL: no sound result, because no point is beyond doubt; the highest")
    assert text.endswith("doubted: lost.")
    assert answer_to(read, "comparison").endswith(" be compared, because one side is in doubt.")


@pytest.mark.takes_long
def test_a_change_has_an_interval_or_the_reason(sound: Tables) -> None:
    """Repeats give an interval; single runs give the reason for none."""
    assert "CALL \N{MINUS SIGN}55 % (\N{MINUS SIGN}" in answer_to(sound, "comparison")
    single = tables(Shape(layouts=LAYOUTS, test_cases=("rpc-call",), threads=(10, 20), repeats=1))
    text = answer_to({**single, "doubts": sound["doubts"]}, "comparison")
    assert "measured once, so without an interval" in text


def test_doubted_bars_are_hollow_and_cells_marked(sound: Tables) -> None:
    """It is so in the overview of a system."""
    read = doubted(sound, "backlog", f"{PLAIN}10", f"{PLAIN}20")
    (axes,) = top_sheet(best(read), {"rpc-call": "CALL"}).axes
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle) and bar.get_width()]
    faces = [to_hex(bar.get_facecolor()) for bar in bars]
    assert faces == [palette.PAPER.light, palette.CASES[0].light]
    assert axes.get_title(loc="left").startswith("sustained throughput")
    all_layouts = layouts(read["runs"])
    grid = overview(best(read), all_layouts)
    assert ["[#" in row[1] for row in grid.rows] == [True, False]
    assert [note.text for note in grid.notes] == [
        "raw maximum, not sustained: no point keeps up",
        "doubt, backlog: so it is",
    ]


def test_the_raw_maximum_stands_beside_what_is_sustained(sound: Tables) -> None:
    """It is a dotted line in the overview, with a footnote on the finding of its doubt."""
    read = doubted(sound, "backlog", f"{PLAIN}20")
    (axes,) = top_sheet(best(read), {"rpc-call": "CALL"}).axes
    raw, sustained = (best(read).iloc[0][name] for name in ("top_throughput_msg_s", FIGURE))
    ends = [np.asarray(line.get_xdata()).tolist() for line in axes.lines]
    assert [end for end in ends if len(end) == 2] == [[sustained, raw]]
    grid = overview(best(read), layouts(read["runs"]))
    (note,) = grid.notes
    assert note.text == "raw maximum: 1240 msg/sec, with 20 threads; doubt, backlog: so it is"
    assert ["[#" in row[1] for row in grid.rows] == [True, False]


def test_a_point_without_figures_is_no_headline(sound: Tables) -> None:
    """A point whose attempts all failed is no headline."""
    nothing = sound["points"].assign(throughput_msg_s=None)
    assert best_first(nothing, sound).empty
