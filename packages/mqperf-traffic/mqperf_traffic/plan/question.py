"""The question of replayed traffic."""

from mqperf.plan.questions import Question

QUESTION = Question(
    "traffic", "how slow messages of recorded traffic are, and how closely the replay follows it"
)
