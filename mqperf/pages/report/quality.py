"""Quality of the data: failed attempts, and doubts by kind."""

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report import control_runs
from mqperf.pages.report.rst import Grid, Text
from mqperf.study.stats.doubt_kinds import WEIGHTS, weight_of
from mqperf.study.tables import Tables, all_attempts


def data_quality(tables: Tables) -> list[str]:
    """Return sentences on doubts about control runs, and on failed and damaged attempts."""
    runs, control_doubts = all_attempts(tables), control_runs.doubts_of(tables)
    failed = int(runs["status"].eq("failed").sum())
    sentences: list[str] = []
    if len(control_doubts):
        sentence = "{} about control runs, listed in :doc:`the methods <methods/index>`."
        sentences.append(Text(sentence).format(amount(len(control_doubts), "doubt")))
    if failed:
        sentences.append(f"{amount(failed, 'attempt')} of {len(runs)} failed; they have rows too.")
    if unreadable := int(runs["status"].eq("unreadable").sum()):
        sentences.append(
            f"{amount(unreadable, 'run')} of {len(runs)} cannot be read and"
            f" {'is' if unreadable == 1 else 'are'} in no figure; the reasons are among the doubts."
        )
    return sentences


def doubt_kinds(doubts: pd.DataFrame) -> Grid:
    """Return a table with number and example of each kind of doubt, the weightiest first."""
    counted = doubts.groupby("kind", sort=False)["text"].agg(["size", "first"])
    kinds = sorted(map(str, counted.index), key=lambda kind: WEIGHTS.index(weight_of(kind)))
    rows = [(weight_of(kind), kind, *map(str, counted.loc[kind])) for kind in kinds]
    return Grid("", ("weight", "kind", "doubts", "for example"), tuple(rows), style="")
