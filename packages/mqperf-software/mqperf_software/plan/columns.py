"""The column of the version of Erlang."""

from mqperf.plan.columns.column import parameter, text

ERLANG = parameter(
    text(
        "erlang",
        "Version of Erlang that the plan asks for; empty for the installed one.",
        "Erlang",
    )
)
