"""What RabbitMQ grants a run, wherever the cluster is: policies, and options of oslo.messaging."""

from collections.abc import Mapping

from pydantic import JsonValue

from mqperf.plan import Case

SERVER_THREADS = 64
"""Messages that an oslo.messaging server handles at once; each answers on a connection."""

POLICIES: Mapping[str, Mapping[str, Mapping[str, JsonValue]]] = {
    "classic": {},
    "mirrored": {
        "ha-all": {
            "pattern": r"^(?!amq\.).*",
            "definition": {"ha-mode": "all"},
            "apply-to": "queues",
        }
    },
    "quorum": {},
}
"""Policies by kind of queue, then by name."""


def oslo_options(case: Case) -> dict[str, dict[str, str]]:
    """Give oslo.messaging enough connections for every green thread, and the kind of queue."""
    section = {"rpc_conn_pool_size": str(max(case.green_threads, SERVER_THREADS) + 16)}
    if case.queues == "quorum":
        section |= {"rabbit_quorum_queue": "true", "rabbit_transient_quorum_queue": "true"}
    return {"oslo_messaging_rabbit": section}
