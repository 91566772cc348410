"""The highest rate at which a condition holds, as searches found it."""

from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import Row, bold, case_of, cited, layout_of
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.offered_rates import differing
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf.study.tables import Tables, at
from mqperf.study.tables.places import CONDITION


def asked(tables: Tables) -> bool:
    """Where the plan searches for a rate."""
    return bool(len(tables["searches"]))


def answer(tables: Tables) -> Answer | None:
    """A sentence for each search."""
    found = tables["searches"]
    apart = [*dict.fromkeys([*differing(found, "threads"), *differing(found, CONDITION)])]
    words = [_where(row, apart, tables) for row in found.to_dict("records")]
    return Answer(
        question="Which rate is sustained?",
        sentences=[_sentence(row, apart, tables) for row in found.to_dict("records")],
        drawing=drawings.brackets(
            "Highest rate that holds",
            found.assign(what=words),
            "held_rate_msg_s",
            "broken_rate_msg_s",
        ),
    )


def _sentence(row: Row, apart: list[str], tables: Tables) -> Text:
    told = in_unit(str(row["text"]), TEST_CASES[row["test_case"]].unit)
    return bold(_where(row, apart, tables)) + Text(": {}{}").format(
        Text.escape(told), Text.escape(cited(row["doubted"]))
    )


def _where(row: Row, apart: list[str], tables: Tables) -> str:
    parts = [case_of(row), layout_of(row, tables), at(row, apart) if apart else ""]
    return ", ".join(filter(None, parts))


ANSWERING = Answering("sustained", asked, answer)
