"""The question of what a message costs."""

from mqperf.plan.questions import Question

QUESTION = Question("capacity", "what a message costs every role, and which rate that allows")
