"""Section on latency by percentile, as far as there are enough messages."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.figures import common
from mqperf.pages.report import drawings
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan import PERCENTILES
from mqperf.plan.columns import COLUMNS
from mqperf.record.streams.telling import BEYOND
from mqperf.study.tables import arranged, tidy, with_parameters

SHOWN = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each point, and a column for each known percentile."""
    if not view.case.streamed:
        return
    caption = view.caption("latency by percentile")
    figures = with_parameters(view.tables["percentiles"], view.tables["runs"])
    means = common(figures)
    levels = [level for level in SHOWN if means["percentile"].eq(level).any()]
    names, latency = arranged(figures).names, COLUMNS["latency_s"]
    headings = {name: COLUMNS[name].heading() for name in names}
    headings |= {f"latency_s {level}": f"p{level * 100:.6g}, {latency.shown}" for level in levels}
    yield Content(
        heading="Latency by percentile",
        words=[
            (
                "Latency of the messages that were started in the window, by percentile: the"
                " farther to the right, the rarer."
            ),
            (
                f"A curve ends where fewer than {BEYOND} messages are slower: beyond, chance"
                " dominates. With several repeats it is the mean over them."
            ),
        ],
        caption=caption,
        rows=_wide(means, names, levels),
        columns=headings,
        key="point",
        drawing=drawings.percentiles(caption, figures, view.case.finish.latency),
        data=tidy(figures),
    )


def withheld(figures: pd.DataFrame) -> bool:
    """Return whether any of these points has too few messages for one of the percentiles."""
    measured = figures[figures["latency_mean_s"].notna() & figures["latency_max_s"].notna()]
    return bool(measured[[*PERCENTILES]].isna().any(axis=None))


def _wide(means: pd.DataFrame, names: tuple[str, ...], levels: list[float]) -> pd.DataFrame:
    """Return a row for each point: its parameters, and the latency at each level."""
    points = means.drop_duplicates("point").set_index("point")[[*names]]
    wide = means.pivot_table("latency_s", "point", "percentile", sort=False)
    wide = wide.reindex(columns=levels).add_prefix("latency_s ")
    return points.join(wide).reset_index()


SECTION = Section("percentiles", content)
