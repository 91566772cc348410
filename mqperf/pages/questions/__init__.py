"""What a plan asks, and its answers: what a report, a notebook and a terminal show first."""

from collections.abc import Iterator, Sequence

from mqperf.base.registry import Registry
from mqperf.pages.questions import comparison, factor, outage, saturation, scaling, sustained
from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.report.words import known_cases
from mqperf.plan.test_cases import unit_of
from mqperf.study.tables import Tables, conditions
from mqperf.study.tables.places import CONDITION

__all__ = ["ANSWERS", "Answer", "Answering", "answers"]

ANSWERS: Registry[Answering] = Registry(
    "answers",
    (
        factor.ANSWERING,
        outage.ANSWERING,
        sustained.ANSWERING,
        saturation.ANSWERING,
        scaling.ANSWERING,
        comparison.ANSWERING,
    ),
)


def answers(tables: Tables, named: Sequence[str] = ()) -> Iterator[Answer]:
    """The answers to the questions that are ``named``, or else to those that the runs ask.

    Where none of those named has an answer, as where nothing differs that was to be compared, the
    runs answer what they ask themselves.

    ``tables`` are complete, and of one plan.  Test cases that pages have no words for are left out.
    """
    tables = known_cases(tables)
    deduced = (name for name, answering in ANSWERS.items() if answering.asked(tables))
    unit, kept = unit_of(*tables["points"]["test_case"]), [*conditions(tables)[CONDITION]]
    for names in (named, deduced):
        told = [answer for name in names if (answer := ANSWERS[name].answer(tables)) is not None]
        yield from (answer.counting(unit, kept) for answer in told)
        if told:
            return
