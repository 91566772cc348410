"""Columns of where a RabbitMQ comes from."""

from mqperf.plan.columns.column import parameter, text

HOME = parameter(text("home", "Folder of the system that the plan names.", "folder"))
ERLANG = parameter(
    text(
        "erlang",
        "Version of Erlang that the plan asks for; empty for the installed one.",
        "Erlang",
    )
)
