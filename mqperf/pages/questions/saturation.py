"""The highest offered rate with which a system keeps up, and latency up to there."""

from collections.abc import Iterator, Sequence

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.questions.question import NARROWER, Answer, Answering
from mqperf.pages.questions.words import (
    Row,
    bold,
    case_of,
    cited,
    grouped,
    limit_of,
    rate_unit,
    where_of,
)
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.offered_rates import RATE_COLUMNS, differing
from mqperf.pages.sections.section import Content, present
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.stats.offered_rates import brackets
from mqperf.study.stats.rules.finding import offered
from mqperf.study.stats.rules.stairs import rounded
from mqperf.study.tables import Tables, completed, varied, where, with_parameters

FEW = 3
"""Most layouts that a sentence lists."""

CONFIRMED = 3
"""Repeats from which on a pause that ended one of them early is not decisive."""


def asked(tables: Tables) -> bool:
    """Return whether several rates are offered, in runs or steps of a run, without a search."""
    return bool(len(tables["saturation_rates"])) and tables["searches"].empty


def answer(tables: Tables) -> Answer | None:
    """Answer with a sentence for each test case: layouts or other variants, the highest first."""
    rates = brackets(tables)
    if rates.empty:
        return None
    varying = differing(rates, "threads")
    described = rates.assign(
        what=[where_of(row, varying, tables) for row in rates.to_dict("records")],
        case=[case_of(row) for row in rates.to_dict("records")],
    )
    return Answer(
        question="Which rate does it keep up with?",
        sentences=[*sentences(described)],
        drawing=_drawing(described, tables),
        table=_table(described) if len(described) > 1 else None,
        settle=[*_settle(rates, tables)],
    )


def sentences(rates: pd.DataFrame) -> Iterator[Text]:
    """Yield a sentence per test case from ``saturation_rates`` with the label ``what``."""
    for case in TEST_CASES:
        of_case = where(rates, test_case=case).sort_values(
            "missed_rate_msg_s", ascending=False, na_position="first", kind="stable"
        )
        of_case = of_case.sort_values("kept_rate_msg_s", ascending=False, kind="stable")
        if len(of_case):
            yield bold(TEST_CASES[case].short) + Text(": {}.").format(
                _kept_rates(of_case.to_dict("records"))
            )


def _kept_rates(rows: Sequence[Row]) -> Text:
    """List a few rows; of more name the highest and the lowest, as a table has the others."""
    first = _kept(rows[0])
    if len(rows) == 1:
        return first + Text.escape(_latency(rows[0]))
    if len(rows) <= FEW:
        return Text("; ").join(map(_kept, rows))
    if len({*map(_bracket, rows)}) == 1:
        return _bracket(rows[0]) + Text(" in all {} cases").format(len(rows))
    return first + Text("; the lowest is {}").format(_kept(rows[-1]))


def _kept(row: Row) -> Text:
    """Return the bracket, with its label, its bottleneck, and its doubts."""
    label = Text(" with {}").format(row["what"]) if row["what"] else Text()
    remarks = limit_of(row) + cited(row["doubted"]).replace(";", ",")
    return _bracket(row) + label + Text.escape(remarks)


def _bracket(row: Row) -> Text:
    """Format the bracket; an end that was not tried is stated as ``less than`` or ``at least``."""
    kept, missed, unit = row["kept_rate_msg_s"], row["missed_rate_msg_s"], rate_unit(row)
    if pd.isna(kept):
        return Text("less than **{} {}**").format(grouped(missed), unit)
    if pd.isna(missed):
        return Text("at least **{} {}**").format(grouped(kept), unit)
    return Text("**{} to {} {}**").format(grouped(kept), grouped(missed), unit)


def _latency(row: Row) -> str:
    """Return the latency at the highest rate kept: p99, or the mean if messages are few."""
    for name in ("p99", "mean"):
        if not pd.isna(seconds := row[f"kept_latency_{name}_s"]):
            return f"; {name} {grouped(1e3 * seconds)} ms at {grouped(row['kept_rate_msg_s'])}"
    return ""


def _drawing(rates: pd.DataFrame, tables: Tables) -> drawings.Drawing:
    """Return the drawing of latency by rate, or, if that is not known, of the brackets."""
    points, steps, caption = tables["points"], tables["rate_steps"], "Latency at each offered rate"
    kinds = kinds_by_point(tables)
    if len(steps):
        of_runs = with_parameters(steps, tables["runs"])
        return drawings.rates(caption, of_runs, "step_rate_msg_s", "latency_mean_s", kinds)
    if "rate_msg_s" in varied(points) and points["latency_p99_s"].notna().any():
        return drawings.rates(caption, points, "rate_msg_s", "latency_p99_s", kinds)
    label = rates["case"] + (", " + rates["what"]).where(rates["what"].ne(""), "")
    ends = "kept_rate_msg_s", "missed_rate_msg_s"
    return drawings.brackets("Highest rate that is kept", rates.assign(what=label), *ends)


def _table(rates: pd.DataFrame) -> Content:
    names = present(rates, RATE_COLUMNS, keep=())
    headings = {"case": "test case", "what": "with"}
    return Content(
        heading="Rates that are kept",
        words=[],
        caption="Rates that are kept",
        rows=rates,
        columns=headings | {name: COLUMNS[name].heading() for name in names},
        style="numbers named",
    )


def _settle(rates: pd.DataFrame, tables: Tables) -> Iterator[Text]:
    if rates["missed_rate_msg_s"].isna().any():
        yield Text("A higher *rate_msg_s* would find the limit.")
    if rates["kept_rate_msg_s"].isna().any():
        yield Text("A lower *rate_msg_s* would find a rate that it keeps up with.")
    missed, steps = rates["missed_rate_msg_s"], tables["rate_steps"]["step_rate_msg_s"]
    tried = {*steps.map(rounded), *offered(tables["runs"])}
    early = missed.notna() & ~missed.isin(tried)  # then it is the throughput at a later rate
    if early.any() and completed(tables["runs"])["repeat"].max() < CONFIRMED:
        sweeps = amount(int(early.sum()), "staircase" if len(steps) else "sweep")
        yield Text(
            "A pause may have ended {} early: a higher rate finished more than the first one that"
            " was not kept up with. *repeats: {}* would show whether it did."
        ).format(sweeps, CONFIRMED)
    if (rates["missed_rate_msg_s"] > 2 * rates["kept_rate_msg_s"]).any():
        yield NARROWER


ANSWERING = Answering("saturation", asked, answer)
