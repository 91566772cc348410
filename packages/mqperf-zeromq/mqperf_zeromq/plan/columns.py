"""The column of the version of Redis."""

from mqperf.plan.columns.column import parameter, text

REDIS = parameter(
    text("redis", "Version of Redis that the plan asks for; empty for the installed one.", "Redis")
)
