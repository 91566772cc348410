"""The question that runs ask whose consumers start late."""

from mqperf.plan.questions import Question

QUESTION = Question(
    "backlog", "how fast consumers that start late drain a backlog, and what publishers notice"
)
