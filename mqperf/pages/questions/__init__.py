"""Questions of a plan, and their answers, which reports, notebooks and terminals show first."""

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
    """Yield the answers to the questions that are ``named``, or else to those that the runs ask.

    If no named question has an answer, as when nothing differs that should be compared, the
    questions are again deduced from the runs.

    ``tables`` are complete, and of one plan.  Unknown test cases are left out.
    """
    tables = known_cases(tables)
    deduced = (name for name, answering in ANSWERS.items() if answering.asked(tables))
    unit, kept = unit_of(*tables["points"]["test_case"]), [*conditions(tables)[CONDITION]]
    for names in (named, deduced):
        found = [answer for name in names if (answer := ANSWERS[name].answer(tables)) is not None]
        yield from (answer.counting(unit, kept) for answer in found)
        if found:
            return
