"""The question of replayed traffic."""

from mqperf.plan.questions import Question

QUESTION = Question(
    "traffic", "how slow messages of recorded traffic are, and how true its replay is"
)
