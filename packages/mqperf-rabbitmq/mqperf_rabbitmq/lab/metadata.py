"""The metadata store of RabbitMQ: Mnesia, or Khepri, which came with 4.0 and replaces it."""

import json

from mqperf.base.errors import SystemFault
from mqperf.base.releases import parsed
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Rabbitmqctl

FLAG = "khepri_db"
"""The feature flag by which a cluster has Khepri."""

KHEPRI_BEGAN, MNESIA_ENDED = (4,), (4, 3)
"""The first version with Khepri for use, and the first without Mnesia."""


def check(store: str, version: str) -> None:
    """Raise ``SystemFault`` when RabbitMQ of this version has no such store."""
    if store == "khepri" and parsed(version) < KHEPRI_BEGAN:
        raise SystemFault(
            f"RabbitMQ {version} has no Khepri, which came with 4.0: plan a later version"
        )
    if store == "mnesia" and parsed(version) >= MNESIA_ENDED:
        raise SystemFault(
            f"RabbitMQ {version} has no Mnesia, which ended with 4.3: plan an earlier version"
        )


def applied(store: str, rabbitmqctl: Rabbitmqctl, node: str) -> None:
    """See that a cluster that is up has the store, and no other.

    Raises ``SystemFault`` when it has not.  Khepri may be switched on, Mnesia not again.
    """
    if parsed(rabbitmqctl.installation.version) < KHEPRI_BEGAN:
        return
    if store == "khepri" and _has_mnesia(rabbitmqctl, node):
        rabbitmqctl.call(node, "enable_feature_flag", "--opt-in", FLAG)
    if (store == "mnesia") != _has_mnesia(rabbitmqctl, node):
        raise SystemFault(
            f"RabbitMQ {rabbitmqctl.installation.version} has not {store} where that was asked for:"
            " leave out metadata_store, or plan another version"
        )


def _has_mnesia(rabbitmqctl: Rabbitmqctl, node: str) -> bool:
    flags = json.loads(rabbitmqctl.call(node, "list_feature_flags", "--formatter", "json"))
    return {flag["name"]: flag["state"] for flag in flags}.get(FLAG) != "enabled"
