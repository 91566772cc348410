"""A minimal question: how many runs there are, for plans that name it."""

from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.report.rst import Text
from mqperf.plan.questions import Question
from mqperf.study.tables import Tables


def answer(tables: Tables) -> Answer:
    """One sentence."""
    sentence = Text("**{}** runs were recorded.").format(len(tables["runs"]))
    return Answer(question="How often?", sentences=[sentence])


QUESTION = Question("how-often", "how many runs were recorded")
ANSWERING = Answering("how-often", lambda _tables: False, answer)
