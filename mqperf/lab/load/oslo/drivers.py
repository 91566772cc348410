"""How oslo.messaging is told where and how to connect: the transport URL and the driver's options.

By the protocol of an endpoint, and by the kind of queue.
"""

from collections.abc import Callable, Mapping

from mqperf.lab.load.launcher import Access, Endpoint
from mqperf.plan import Case
from mqperf.plan.driver import OPTIONS

Sections = Mapping[str, Mapping[str, str]]
"""Options of oslo.config by section."""

SCHEMES = {"amqp-0-9-1": "rabbit", "amqp-1.0": "amqp", "zmtp": "zmq+redis"}
"""The driver for each protocol, as transport URLs name it."""

SERVER_THREADS = 64
"""Messages that an oslo.messaging server handles at once; each answers on a connection."""


def transport_url(endpoint: Endpoint) -> str:
    """The transport URL of one role."""
    return endpoint.url(SCHEMES[endpoint.protocol])


def options(case: Case, access: Access, address: str) -> Sections:
    """The options of the driver, on a host of that address: the case's own hold."""
    sections = _OPTIONS[access.client.protocol](case, address)
    more = {"ssl": "true"} if access.client.authority else {}
    if access.client.protocol == "amqp-1.0" and access.client.user:
        more["sasl_mechanisms"] = "PLAIN"
    for name in OPTIONS:
        if (value := case.parameters.get(name)) is not None:
            more[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return {name: {**values, **more} for name, values in sections.items()}


def _rabbit(case: Case, _address: str) -> Sections:
    """Enough connections for every green thread, and the kind of queue."""
    section = {"rpc_conn_pool_size": str(max(case.green_threads, SERVER_THREADS) + 16)}
    if case.queues == "quorum":
        section |= {"rabbit_quorum_queue": "true", "rabbit_transient_quorum_queue": "true"}
    return {"oslo_messaging_rabbit": section}


def _amqp(_case: Case, _address: str) -> Sections:
    """Most private brokers know no users; after several failures, too, try again every second."""
    section = {"sasl_mechanisms": "ANONYMOUS", "connection_retry_backoff": "1"}
    return {"oslo_messaging_amqp": section}


def _zmq(_case: Case, address: str) -> Sections:
    """Everything on that address, every server reached directly."""
    return {
        "oslo_messaging_zmq": {
            "rpc_zmq_matchmaker": "redis",
            "rpc_zmq_host": address,
            "rpc_zmq_bind_address": address,
            "use_pub_sub": "false",
            "use_router_proxy": "false",
        }
    }


_OPTIONS: Mapping[str, Callable[[Case, str], Sections]] = {
    "amqp-0-9-1": _rabbit,
    "amqp-1.0": _amqp,
    "zmtp": _zmq,
}
