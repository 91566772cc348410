"""The percentiles of latency as a table: what a picture of them shows, in numbers."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.figures import common
from mqperf.pages.report.rst import MISSING, Grid, Text
from mqperf.pages.report.words import cell
from mqperf.plan import PERCENTILES
from mqperf.plan.columns import COLUMNS
from mqperf.record.streams.telling import BEYOND
from mqperf.study.tables import arranged

SHOWN = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)


def about() -> Iterator[str]:
    """What the curves are, and why they end."""
    yield (
        "Latency of the messages that were started in the window, by percentile: the farther to the"
        " right, the rarer."
    )
    yield (
        f"A curve ends where fewer than {BEYOND} messages are slower: beyond, chance dominates."
        " With several repeats it is the mean over them."
    )


def withheld(figures: pd.DataFrame) -> bool:
    """Whether any of these points has too few messages for one of the percentiles."""
    known = figures[figures["latency_mean_s"].notna() & figures["latency_max_s"].notna()]
    return bool(known[[*PERCENTILES]].isna().any(axis=None))


def grid(caption: str, rows: pd.DataFrame) -> Grid:
    """A row for each point, from the table ``percentiles`` with parameters."""
    told = common(rows)
    levels = [level for level in SHOWN if told["percentile"].eq(level).any()]
    names = arranged(rows).names
    latency = COLUMNS["latency_s"]
    headings = [f"p{level * 100:.6g}, {latency.shown}" for level in levels]
    lines: dict[str, tuple[str, ...]] = {}
    for point, own in told.groupby("point", sort=False):
        values = own.set_index("percentile")["latency_s"]
        lines[str(point)] = (
            *(cell(name, own[name].iloc[0]) for name in names),
            *(
                cell("latency_s", values[level]) if level in values else Text(MISSING)
                for level in levels
            ),
        )
    heads = (*(COLUMNS[name].heading() for name in names), *headings)
    return Grid(caption, heads, tuple(lines.values()), keys=tuple(lines))
