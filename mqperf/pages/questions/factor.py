"""The factor by which each condition of a plan prolongs a message, relative to the first one."""

import pandas as pd

from mqperf.pages.questions.question import Answer, Answering, enough_repeats
from mqperf.pages.questions.words import Row, bold, case_of, cited, grouped, layout_of
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.factors import LATENCY, factor
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, at, conditions, varied, with_parameters
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.places import CONDITION


def asked(tables: Tables) -> bool:
    """Return whether there are conditions without actions on nodes or links."""
    return bool(len(_rows(tables)))


def answer(tables: Tables) -> Answer | None:
    """Answer with a sentence for each condition and layout, with its published factor."""
    rows = _rows(tables)
    nouns = dict.fromkeys(TEST_CASES[case].noun for case in rows["test_case"])
    first = conditions(tables)[CONDITION].iloc[0]
    means = rows[rows["figure"].eq(LATENCY)]
    return Answer(
        question=f"By which factor is a {' or '.join(nouns)} slower than under {first!r}?",
        sentences=[_sentence(row, tables) for row in means.to_dict("records")],
        drawing=drawings.factors("Factors of the conditions", rows),
        settle=[*enough_repeats(means)],
    )


def _rows(tables: Tables) -> pd.DataFrame:
    """Return factors of conditions without actions; none for staircases, which mix many rates."""
    factors, runs = tables["factors"], with_parameters(tables["outages"], tables["runs"])
    if len(tables["rate_steps"]):
        return factors.iloc[:0]
    with_actions = {*runs[CONDITION]} if CONDITION in runs.columns else set[str]()
    return factors[~factors[CONDITION].isin(with_actions)]


def _sentence(row: Row, tables: Tables) -> Text:
    varying = [name for name in varied(tables["points"]) if name in row and name != CONDITION]
    context = (layout_of(row, tables), at(row, varying) if varying else "")
    text = f"{factor(row)} times"
    if pd.notna(row["published_factor"]):
        text += f"; published {grouped(row['published_factor'])}"
    several = len(tables["factors"][[*SWEEP]].drop_duplicates()) > 1
    case = case_of(row) if several else ""
    return bold(str(row[CONDITION]), case, *context) + Text(": {}{}.").format(
        text, cited(row["doubted"])
    )


ANSWERING = Answering("factor", asked, answer)
