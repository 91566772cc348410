"""The question that runs ask whose messages have priorities."""

from mqperf.plan.questions import Question

QUESTION = Question("priorities", "how much sooner urgent messages come than the others")
