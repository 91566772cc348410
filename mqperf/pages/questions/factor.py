"""By which factor each condition of a plan prolongs a message, against the first one."""

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
    """Where there are conditions in which nothing is done to nodes or links meanwhile."""
    return bool(len(_rows(tables)))


def answer(tables: Tables) -> Answer | None:
    """A sentence for each condition on each layout, with the published factor beside."""
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
    """Factors of conditions without actions; of a staircase the latency is that of no rate."""
    factors, runs = tables["factors"], with_parameters(tables["outages"], tables["runs"])
    if len(tables["rate_steps"]):
        return factors.iloc[:0]
    acted = {*runs[CONDITION]} if CONDITION in runs.columns else set[str]()
    return factors[~factors[CONDITION].isin(acted)]


def _sentence(row: Row, tables: Tables) -> Text:
    varying = [name for name in varied(tables["points"]) if name in row and name != CONDITION]
    where = (layout_of(row, tables), at(row, varying) if varying else "")
    text = f"{factor(row)} times"
    if pd.notna(row["published_factor"]):
        text += f"; published {grouped(row['published_factor'])}"
    several = len(tables["factors"][[*SWEEP]].drop_duplicates()) > 1
    case = case_of(row) if several else ""
    return bold(str(row[CONDITION]), case, *where) + Text(": {}{}.").format(
        text, cited(row["doubted"])
    )


ANSWERING = Answering("factor", asked, answer)
