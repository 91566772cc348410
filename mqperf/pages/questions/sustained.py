"""The highest rate at which a condition holds, as searches found it."""

from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import bold, case_of, cited, where_of
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.offered_rates import differing
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf.study.tables import Tables
from mqperf.study.tables.places import CONDITION


def asked(tables: Tables) -> bool:
    """Where the plan searches for a rate."""
    return bool(len(tables["searches"]))


def answer(tables: Tables) -> Answer | None:
    """A sentence for each search."""
    found = tables["searches"]
    apart = differing(found, "threads", CONDITION)
    rows = found.to_dict("records")
    places = [where_of(row, apart, tables) for row in rows]
    texts = [in_unit(str(row["text"]), TEST_CASES[row["test_case"]].unit) for row in rows]
    cases = [case_of(row) for row in rows]
    names = [", ".join(filter(None, both)) for both in zip(cases, places, strict=True)]
    return Answer(
        question="Which rate is sustained?",
        sentences=[
            bold(case_of(row), at)
            + Text(": {}{}.").format(text.removesuffix("."), cited(row["doubted"]))
            for row, at, text in zip(rows, places, texts, strict=True)
        ],
        drawing=drawings.brackets(
            "Highest rate that holds",
            found.assign(what=names),
            "held_rate_msg_s",
            "broken_rate_msg_s",
        ),
    )


ANSWERING = Answering("sustained", asked, answer)
