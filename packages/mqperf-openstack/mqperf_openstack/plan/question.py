"""The question of a sweep in which clients are added until a server is busy."""

from mqperf.plan.questions import Question

QUESTION = Question("server-load", "how many clients keep a server below 70 % of a core")
