"""The columns of free settings: a value is the name of a set of keys, or the keys themselves."""

from mqperf.plan.columns.column import parameter, text

PRESET = parameter(
    text("preset", "Name of the configuration of a deployment that the nodes have.", "preset")
)
CONFIG = parameter(
    text("config", "Keys of rabbitmq.conf that the plan sets, or their name.", "configuration")
)
ADVANCED = parameter(
    text(
        "advanced",
        "Erlang terms of advanced.config that the plan sets, or their name.",
        "advanced configuration",
    )
)
ENVIRONMENT = parameter(
    text(
        "environment",
        "Environment variables of the nodes that the plan sets, or their name.",
        "environment",
    )
)
POLICY = parameter(text("policy", "Definition of the policy of all queues, or its name.", "policy"))
METADATA_STORE = parameter(
    text(
        "metadata_store",
        "Where RabbitMQ has its queues, exchanges and bindings; empty for the version's default.",
        "metadata store",
    )
)
