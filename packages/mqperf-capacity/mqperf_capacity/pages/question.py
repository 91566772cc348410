"""What a message costs, and what that allows: asked by name, of runs at low load."""

from collections.abc import Iterable, Iterator

import pandas as pd

from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import bold, case_of, grouped, layout_of, ranged, rate_unit
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.section import Content
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import Tables
from mqperf_capacity.pages.figure import drawing
from mqperf_capacity.pages.words import filled, name_of
from mqperf_capacity.study import demands as demands_of
from mqperf_capacity.study.predictions import Asked, Predicted, predictions

CAPTION = "What a message costs"
COLUMNS_SHOWN = ("idle_cores", "demand_s", "demand_byte_s", "message_bytes", "runs_used")
OTHERS = Text("*mqperf predict* tells it for other rates, cores, and lengths of bodies.")
LIMIT = Text(": **{}** ({}); then {}. From {} runs at {} to {} {}.")
TRIED = Text("A run at {} {} would tell whether a message of {} still costs the same there.")


def answer(tables: Tables) -> Answer | None:
    """A sentence for each layout and test case: what is sustained, and who is full there."""
    results = predictions(tables, Asked())
    if not results:
        return None
    predicted = [result for result in results if result.refused is None]
    return Answer(
        question="What does a message cost, and which rate does that allow?",
        sentences=[*(_sentence(result, tables) for result in results), OTHERS],
        drawing=drawing(predicted, tables) if predicted else None,
        table=_table(demands_of.table(tables)),
        settle=[*_settling(predicted)],
    )


def _sentence(result: Predicted, tables: Tables) -> Text:
    model = result.known.model
    subject = bold(case_of(model.keys), layout_of(model.keys, tables), model.words)
    if result.refused is not None:
        return subject + Text(": no prediction: {}.").format(result.refused)
    whole, runs = result.whole, result.known.runs
    ends = whole["full_msg_s_low"], whole["full_msg_s_high"]
    limit = ranged(whole["full_msg_s"], ends, rate_unit(model.keys))
    basis = [grouped(len(runs)), *_rates(runs), rate_unit(model.keys)]
    return subject + LIMIT.format(limit, _interval(result), filled(result), *basis)


def _interval(result: Predicted) -> str:
    """Of what: of the longest bodies, which cost most, where there are several lengths."""
    longest = f"{result.whole['asked_payload_bytes']:,.0f}"
    several = len(result.known.payloads) > 1
    return "90 % interval" + (f", with bodies of {longest} bytes" if several else "")


def _settling(results: Iterable[Predicted]) -> Iterator[Text]:
    """What would try a rate that is far above those that were measured."""
    for result in results:
        keys, highest = result.known.model.keys, result.known.runs["rate"].max()
        lowest = result.whole["full_msg_s_low"]
        if lowest > highest:
            yield TRIED.format(grouped(lowest), rate_unit(keys), case_of(keys))


def _rates(runs: pd.DataFrame) -> tuple[str, str]:
    """The lowest and the highest."""
    return grouped(runs["rate"].min()), grouped(runs["rate"].max())


def _table(demands: pd.DataFrame) -> Content:
    """A row for each role."""
    rows = demands.assign(
        case=[case_of(row) for row in demands.to_dict("records")],
        of_role=[name_of(role) for role in demands["role"]],
    )
    names = [name for name in COLUMNS_SHOWN if rows[name].notna().any()]
    headings = {"case": "test case", "of_role": "role"}
    return Content(
        heading=CAPTION,
        words=[],
        caption=CAPTION,
        rows=rows,
        columns=headings | {name: COLUMNS[name].heading() for name in names},
        style="numbers named",
        data=demands,
    )


ANSWERING = Answering("capacity", lambda _tables: False, answer)
