"""The section of flame graphs: the functions in which the runs shown use CPU."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.explorers import shown
from mqperf.pages.sections import Content, Section, View
from mqperf.study.tables import tidy, where
from mqperf_flame.onhost.recorder import HERTZ
from mqperf_flame.pages.sheet import drawn, flame_sheet

SHOWN = ("process", "function", "function_cores", "function_share", "function_called_share")

HOTTEST = 10
"""The functions shown of a process; all are in the table."""


def content(view: View) -> Iterator[Content]:
    """Yield graph and hottest functions of each run that is drawn in time and was profiled."""
    if view.tables["stacks"].empty:
        return
    all_functions = view.of_runs("hot_functions", "process")
    for run in shown(view.tables):
        if (stacks := where(view.tables["stacks"], run=run)).empty:
            continue
        functions = where(all_functions, run=run)
        hottest = functions[functions["process"].isin(drawn(stacks))]
        hottest = hottest.groupby("process", sort=False).head(HOTTEST)
        caption = view.caption("flame graph")
        yield Content(
            heading="Where the CPU goes",
            words=[*_explanation(run)],
            caption=view.caption("hot functions"),
            rows=hottest,
            columns=view.columns(hottest, SHOWN, keep=SHOWN),
            key="run",
            drawing=Drawing(caption, _alternative(hottest), partial(flame_sheet, stacks)),
            data=tidy(functions),
            counts_messages=True,
        )


def _explanation(run: str) -> Iterator[str]:
    yield (
        f"The functions of run {run} in which CPU was used in the window, sampled {HERTZ} times a"
        " second."
    )
    yield (
        "A box is a function, as wide as its share of the CPU of its process; the functions that it"
        " calls are above it. Hover over a box to read its name and share. Boxes are in order of"
        " names, not of time."
    )


def _alternative(functions: pd.DataFrame) -> str:
    """Return the text alternative of the drawing: the hottest function of each process."""
    hottest = functions.drop_duplicates("process")
    shares = [
        f"{row['process']}: {row['function']} {100 * row['function_share']:.0f} %"
        for row in hottest.to_dict("records")
    ]
    return f"Flame graphs, and the function of each process with most CPU: {'; '.join(shares)}."


SECTION = Section("flame", content)
