"""The section on the steps of a creation, for test cases that run chains of steps."""

from collections.abc import Iterator

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report.rst import MISSING
from mqperf.pages.report.words import unsure
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import Tables, arranged, at, in_curves, tidy, with_parameters
from mqperf.study.tables.axes import by_point

STEP_COLUMNS = ("step_number", "step", "step_kind", "sender", "receiver", "round_trips")
MOST_POINTS = 6
"""The most columns that fit onto a page."""


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each step and a column for each point: mean time and share."""
    figures, noun = over_repeats(view.tables), view.case.noun
    names = arranged(figures).names
    points = [point for _, point in figures.groupby("point", sort=False)][:MOST_POINTS]
    table = points[0][[*STEP_COLUMNS]]
    columns = {name: COLUMNS[name].heading() for name in STEP_COLUMNS}
    for number, point in enumerate(points, 1):
        name = f"point {number}"
        table = table.assign(**{name: [_figure(point, step) for step in table["step_number"]]})
        columns[name] = f"{at(point.iloc[0].to_dict(), names)}, ms (share)"
    yield Content(
        heading=f"What a {noun} is made of",
        words=[*_words(noun, figures)],
        caption=view.caption("steps"),
        rows=table,
        columns=columns,
        data=tidy(figures),
        style="",
    )


def over_repeats(tables: Tables) -> pd.DataFrame:
    """Return a row per point and step: means over the repeats, samples and errors summed."""
    figures = with_parameters(tables["steps"], tables["runs"])
    means = ["latency_mean_s", "latency_p95_s", "latency_uncertainty_s", "creation_share"]
    grouped = by_point(figures, *STEP_COLUMNS)
    counted = grouped[["samples", "errors"]].sum()
    averaged = grouped[means].mean()[means]
    joined = pd.concat([counted, averaged], axis="columns")
    return in_curves(joined, "step_number")


def _figure(point: pd.DataFrame, number: int) -> str:
    """Return text such as ``12.7 (6.8 %)``, in ms."""
    step = point[point["step_number"] == number]
    if step.empty or pd.isna(mean := step["latency_mean_s"].iloc[0]):
        return MISSING
    error_s, share = (step[name].iloc[0] for name in ("latency_uncertainty_s", "creation_share"))
    text = str(unsure("latency_mean_s", mean, 0.0 if pd.isna(error_s) else error_s, mean))
    gap = "\N{NO-BREAK SPACE}"
    return text if pd.isna(share) else f"{text}{gap}({share * 100:.1f}{gap}%)"


def _words(noun: str, figures: pd.DataFrame) -> Iterator[str]:
    """Yield sentences on how to read the table, and on the round trips of a creation."""
    yield (
        f"Mean time of every step over the {noun}s that were started in the window, and its share"
        " of their total time. A call lasts until its reply, or until its receiver sends the next"
        " step; a cast lasts until its receiver has handled it."
    )
    round_trips = figures.groupby("point")["round_trips"].sum().max()
    if round_trips:
        yield (
            f"Each {noun} waits for {round_trips:g} round trips between control plane and agents,"
            f" so a link between them adds at least {round_trips * 2:g} times its delay each way;"
            " more where the client library waits for confirmations of the broker."
        )
    if figures["creation_share"].isna().any():
        yield (
            "Steps without a share are sent while the step before them is handled, whose time"
            " includes theirs."
        )
    if figures["latency_uncertainty_s"].gt(0).any():
        yield "± is the error bound of a step from the clocks of two hosts."
    if failed := int(figures["errors"].sum()):
        steps = figures.loc[figures["errors"].gt(0), "step"].unique()
        yield f"{amount(failed, noun)} failed; the last steps begun: {', '.join(steps)}."
    if (points := figures["point"].nunique()) > MOST_POINTS:
        yield f"{MOST_POINTS} of {points} points are shown; the data files have all."


SECTION = Section("steps", content)
