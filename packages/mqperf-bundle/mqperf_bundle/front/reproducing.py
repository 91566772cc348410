"""The plan of a bundle, to be run here, and what of both sets of runs agrees."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from mqperf.base.errors import RecordError
from mqperf.base.one_line import amount
from mqperf.pages.figures.ratios import point_label
from mqperf.pages.report.comparison import interval, ratio
from mqperf.plan.columns import COLUMNS
from mqperf_bundle.front.verifying import unpacked
from mqperf_bundle.record import layout


@contextmanager
def bundled_runs(file: Path) -> Iterator[Path]:
    """The folder of the runs in a bundle, with their plan, for as long as it is needed.

    Raises ``RecordError`` for what is no bundle, or is not what was bundled.
    """
    with unpacked(file) as (folder, digests):
        if fault := next(layout.differing(layout.read_manifest(folder), digests), None):
            raise RecordError(f"{file}: {fault}; mqperf verify {file} tells more")
        yield folder / layout.RUNS


def agreement(comparison: pd.DataFrame) -> Iterator[str]:
    """Which figures of the runs here agree with those of a bundle: whose interval has 1 in it."""
    told = comparison.dropna(subset=["ratio_low", "ratio_high"])
    agrees = told["ratio_low"].le(1) & told["ratio_high"].ge(1)
    if len(told):
        yield f"{agrees.sum()} of {amount(len(told), 'figure')} agree within their interval"
    for row in told[~agrees].to_dict("records"):
        heading = COLUMNS[str(row["figure"])].heading()
        yield f"  differs: {point_label(row)}, {heading}: {ratio(row)}, {interval(row)}"
    if without := len(comparison) - len(told):
        once = comparison[["repeats_a", "repeats_b"]].eq(1).any(axis=None)
        why = "the plan has no repeats" if once else "its repeats give none"
        yield f"{amount(without, 'figure')} without an interval: {why}"
