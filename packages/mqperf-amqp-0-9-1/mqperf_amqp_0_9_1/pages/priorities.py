"""Section and answer on the latency of messages of two priorities."""

from collections.abc import Sequence

import pandas as pd

from mqperf.pages.questions.words import bold, case_of, grouped, where_of
from mqperf.pages.report.rst import Text
from mqperf.study.tables import Tables
from mqperf_amqp_0_9_1.onhost.priorities import URGENT, USUAL
from mqperf_amqp_0_9_1.pages.urgency import drawing
from mqperf_amqp_0_9_1.study.priorities import TABLE
from mqperf_numbered.pages import parts

WORDS = (
    "Urgent messages have the higher of two priorities, and overtake the usual ones that wait in a"
    " queue. Where no messages wait there is nothing to overtake. Latency in other sections is of"
    " both together."
)

FIGURE = "latency_p50_s"


def _sentence(point: pd.DataFrame, varying: Sequence[str], tables: Tables) -> Text:
    row = point.iloc[0].to_dict()
    text = bold(case_of(row), where_of(row, varying, tables)) + Text(": ")
    by_run = point.pivot_table(index="run", columns="urgency", values=FIGURE)
    if not {URGENT, USUAL} <= {*by_run.columns} or (known := by_run.dropna()).empty:
        return text + Text("no result, because too few messages arrived.")
    medians = (f"{grouped(1e3 * known[name].mean())} ms" for name in (URGENT, USUAL))
    text += Text("the median latency is **{}** for urgent messages, **{}** for usual ones").format(
        *medians
    )
    ratios = known[USUAL] / known[URGENT]
    times = " to ".join(dict.fromkeys(grouped(ratio) for ratio in (ratios.min(), ratios.max())))
    text += Text(", {} times as much.").format(times)
    return Text(" ").join([text, *parts.doubted(row, tables)])


ABOUT = "Priorities", "messages by priority", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=5, order="urgency")
ANSWERING = parts.answering(
    TABLE.name,
    TABLE,
    "How much sooner do urgent messages arrive than usual ones?",
    _sentence,
    drawing,
)
