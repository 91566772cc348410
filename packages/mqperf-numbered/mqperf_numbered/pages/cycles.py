"""Section and answer on rates in cycles: whether a peak's backlog is drained before the next."""

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
    "The offered rate repeats in cycles. Unfinished messages were due by the end of a step, but not"
    " yet received. The backlog of a peak is drained when no more messages wait than are due in"
    " 0.1 s, plus the lowest latency, and four of each thread. Throughput and latency of other"
    " sections are over all steps in the window."
)


def _sentence(point: pd.DataFrame, varying: Sequence[str], tables: Tables) -> Text:
    row = point.iloc[0].to_dict()
    runs = tables["runs"]
    cycle = steps_of(runs.loc[runs["run"].eq(row["run"]), CYCLE].iloc[0])
    peak = max(rate for rate, _ in cycle)
    peak_s = sum(seconds for rate, seconds in cycle if rate == peak)
    subject = bold(case_of(row), where_of(row, varying, tables)) + Text(
        ": at **{} {}** for {} s of every {} s, "
    ).format(grouped(peak), rate_unit(row), peak_s, sum(seconds for _, seconds in cycle))
    in_peak = point["step_rate_msg_s"].eq(peak)
    followed = in_peak & point["run"].eq(point["run"].shift(-1))
    if not followed.any():
        return subject + Text("no step after a peak is in the window.")
    texts = [_backlog(point[followed], rate_unit(row)), *_latency(point, in_peak)]
    return subject + Text(" ").join([*texts, *parts.doubted(row, tables)])


def _backlog(peaks: pd.DataFrame, unit: str) -> Text:
    """Describe the backlog at the end of peaks, and its drain; undrained backlogs come first."""
    drained_s = peaks["drained_s"].dropna()
    if len(drained_s) == len(peaks) and not drained_s.any():
        return Text("**no backlog** at the end of a peak.")
    backlog = f"{grouped(peaks['unfinished'].max())} {unit.partition('/')[0]}"
    text = Text("a backlog of up to {} at the end of a peak, ").format(backlog)
    if len(drained_s) < len(peaks):
        text += Text("**not drained** in {} of {} peaks before the next one, or the end").format(
            len(peaks) - len(drained_s), len(peaks)
        )
        return text + Text(" of the load.")
    return text + Text("drained **{}** after it.").format(spanned(drained_s, "s"))


def _latency(point: pd.DataFrame, in_peak: pd.Series) -> Iterator[Text]:
    """Describe the highest p99 of peaks, and of other steps, if both have enough messages."""
    highest = [point.loc[mask, "latency_p99_s"].max() * 1e3 for mask in (in_peak, ~in_peak)]
    if not any(map(pd.isna, highest)):
        yield Text("The p99 latency is up to {} ms in peaks, and {} ms between them.").format(
            *map(grouped, highest)
        )


ABOUT = "Cycles of the offered rate", "steps of a rate that repeats in cycles", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=7)
ANSWERING = parts.answering(
    "cycles", TABLE, "Is the backlog of a peak drained before the next one?", _sentence
)
