"""The question ``capacity``: the cost of a message, and the rate which that allows."""

from collections.abc import Iterable, Iterator

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import bold, case_of, cited, grouped, layout_of, ranged, rate_unit
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.section import Content
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import Tables
from mqperf_capacity.pages.figure import drawing
from mqperf_capacity.pages.words import filled, is_measured, name_of
from mqperf_capacity.study import demands as demands_of
from mqperf_capacity.study.full_load import USED_UP
from mqperf_capacity.study.predictions import Asked, Predicted, predictions

CAPTION = "What a message costs"
COLUMNS_SHOWN = (
    *("idle_cores", "demand_s", "demand_full_s", "demand_byte_s", "demand_full_byte_s"),
    *("message_bytes", "runs_used"),
)
OTHERS = Text("*mqperf predict* answers this for other rates, cores, and body lengths.")
AT_ONCE = Text("*mqperf predict --mix* predicts CPU and latency of several test cases at once.")
LIMIT = Text(": **{}** ({}); then {}. From {}.")
HIGHER = Text("Runs under overload, at several times {} {}, would show what {} sustains.")


def answer(tables: Tables) -> Answer | None:
    """A sentence for each layout and test case: what is sustained, and who is full there."""
    results = predictions(tables, Asked())
    if not results:
        return None
    predicted = [result for result in results if result.refused is None]
    demands = demands_of.table(tables)
    return Answer(
        question="What does a message cost, and which rate does that allow?",
        sentences=[
            *(_sentence(result, tables) for result in results),
            *([OTHERS] if predicted else []),
            *([AT_ONCE] if len({r.known.model.keys["test_case"] for r in predicted}) > 1 else []),
        ],
        drawing=drawing(predicted, tables) if predicted else None,
        table=_table(demands) if len(demands) else None,
        settle=[*_settling(predicted)],
    )


def _sentence(result: Predicted, tables: Tables) -> Text:
    model = result.known.model
    subject = bold(case_of(model.keys), layout_of(model.keys, tables), model.words)
    if result.refused is not None:
        return subject + Text(": no prediction: {}.").format(result.refused)
    return subject + LIMIT.format(_limit(result), _interval(result), filled(result), _basis(result))


def _limit(result: Predicted) -> str:
    """The sustained rate with its interval, or the lower end where only a bound is known."""
    whole, unit = result.together, rate_unit(result.known.model.keys)
    low, high = whole["full_msg_s_low"], whole["full_msg_s_high"]
    if is_measured(result):
        return ranged(whole["full_msg_s"], (low, high), unit)
    return f"at least {grouped(low)} {unit}"


def _interval(result: Predicted) -> str:
    """The kind of interval, and the length of bodies: the longest, which cost most."""
    interval = "90 % interval" if is_measured(result) else "lower end of the 90 % interval"
    if len(result.known.payloads) < 2:
        return interval
    return f"{interval}, with bodies of {result.together['asked_payload_bytes']:,.0f} bytes"


def _basis(result: Predicted) -> str:
    """The numbers of runs at low load, and of runs in which some role was full."""
    rates = result.known.runs["rate"]
    low, high, unit = grouped(rates.min()), grouped(rates.max()), rate_unit(result.known.model.keys)
    words = f"{amount(len(rates), 'run')} at {low} to {high} {unit}"
    full = result.known.model.utilisation().ge(USED_UP).sum()
    words += f" and {full} at full load" if full else ""
    return words + cited(result.known.model.doubted)


def _settling(results: Iterable[Predicted]) -> Iterator[Text]:
    """Measurements that would show how much more is sustained."""
    for result in results:
        if not is_measured(result):
            keys, least = result.known.model.keys, grouped(result.together["full_msg_s_low"])
            yield HIGHER.format(least, rate_unit(keys), case_of(keys))


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
