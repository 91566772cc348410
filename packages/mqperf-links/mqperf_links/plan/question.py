"""The question that a grid of links asks."""

from mqperf.plan.questions import Question

QUESTION = Question("link-grid", "what each delay of a link costs at each loss of packets")
