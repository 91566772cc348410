"""Reproduction of a bundle: its runs and plan, and the agreement with runs made here."""

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
    """Yield a temporary folder with the runs of a bundle, and their plan.

    Raises ``RecordError`` for a file that is not a bundle, or is damaged.
    """
    with unpacked(file) as (folder, digests):
        if fault := next(layout.differing(layout.read_manifest(folder), digests), None):
            raise RecordError(f"{file}: {fault}; see mqperf verify {file}")
        yield folder / layout.RUNS


def agreement(comparison: pd.DataFrame) -> Iterator[str]:
    """Yield how many figures agree with the bundle: the intervals of their ratios contain 1."""
    rows = comparison.dropna(subset=["ratio_low", "ratio_high"])
    agrees = rows["ratio_low"].le(1) & rows["ratio_high"].ge(1)
    if len(rows):
        yield f"{agrees.sum()} of {amount(len(rows), 'figure')} agree within their interval"
    for row in rows[~agrees].to_dict("records"):
        heading = COLUMNS[str(row["figure"])].heading()
        yield f"  differs: {point_label(row)}, {heading}: {ratio(row)}, {interval(row)}"
    if without := len(comparison) - len(rows):
        once = comparison[["repeats_a", "repeats_b"]].eq(1).any(axis=None)
        why = "the plan has no repeats" if once else "its repeats give none"
        yield f"{amount(without, 'figure')} without an interval: {why}"
