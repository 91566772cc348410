"""Rates that come in cycles: each step, and whether what a peak leaves is gone before the next."""

from collections.abc import Iterator, Sequence

import pandas as pd

from mqperf.pages.questions.words import bold, case_of, grouped, rate_unit, spanned, where_of
from mqperf.pages.report.rst import Text
from mqperf.plan.pace import CYCLE
from mqperf.study.tables import Tables
from mqperf_numbered.pages import parts
from mqperf_numbered.plan.cycles import steps_of
from mqperf_numbered.study.cycles import TABLE

WORDS = (
    "The offered rate comes in cycles. Unfinished is what was due by the end of a step and had"
    " not been received. The backlog of a peak is gone when no more waits than is due in 0.1 s,"
    " beside the least latency, and four messages of each thread. Throughput and latency of other"
    " sections are over all steps in the window."
)


def _sentence(point: pd.DataFrame, varying: Sequence[str], tables: Tables) -> Text:
    row = point.iloc[0].to_dict()
    runs = tables["runs"]
    cycle = steps_of(runs.loc[runs["run"].eq(row["run"]), CYCLE].iloc[0])
    high = max(rate for rate, _ in cycle)
    lasts = sum(seconds for rate, seconds in cycle if rate == high)
    subject = bold(case_of(row), where_of(row, varying, tables)) + Text(
        ": at **{} {}** for {} s of every {} s, "
    ).format(grouped(high), rate_unit(row), lasts, sum(seconds for _, seconds in cycle))
    in_peak = point["step_rate_msg_s"].eq(high)
    followed = in_peak & point["run"].eq(point["run"].shift(-1))
    if not followed.any():
        return subject + Text("no step after a peak is in the window.")
    texts = [_left(point[followed], rate_unit(row)), *_latency(point, in_peak)]
    return subject + Text(" ").join([*texts, *parts.doubted(row, tables)])


def _left(peaks: pd.DataFrame, unit: str) -> Text:
    """What peaks leave at their end, and for how long; that which is never gone first."""
    gone = peaks["drained_s"].dropna()
    if len(gone) == len(peaks) and not gone.any():
        return Text("**nothing is left** of a peak at its end.")
    left = f"{grouped(peaks['unfinished'].max())} {unit.partition('/')[0]}"
    text = Text("up to {} of a peak are left at its end, and ").format(left)
    if len(gone) < len(peaks):
        text += Text("of {} peaks {} **not gone** before the next one, or the end").format(
            len(peaks), len(peaks) - len(gone)
        )
        return text + Text(" of the load.")
    return text + Text("are gone **{}** after it.").format(spanned(gone, "s"))


def _latency(point: pd.DataFrame, in_peak: pd.Series) -> Iterator[Text]:
    """The highest p99 of peaks, and of other steps, where messages are enough to tell both."""
    ends = [point.loc[part, "latency_p99_s"].max() * 1e3 for part in (in_peak, ~in_peak)]
    if not any(map(pd.isna, ends)):
        yield Text("The p99 latency is up to {} ms in peaks, and {} ms between them.").format(
            *map(grouped, ends)
        )


ABOUT = "Cycles of the offered rate", "steps of a rate that comes in cycles", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=7)
ANSWERING = parts.answering(
    "cycles", TABLE, "Is the backlog of a peak gone before the next one?", _sentence
)
