"""The metadata store of RabbitMQ: Mnesia, or Khepri, which came with 4.0 and replaces it."""

import json

from mqperf.base.errors import SystemFault
from mqperf.base.releases import parsed
from mqperf.lab.systems.rabbitmq.rabbitmqctl import Rabbitmqctl

FLAG = "khepri_db"
"""The feature flag that switches a cluster to Khepri."""

KHEPRI_BEGAN, MNESIA_ENDED = (4,), (4, 3)
"""The first version that supports Khepri, and the first without Mnesia."""


def check(store: str, version: str) -> None:
    """Raise ``SystemFault`` if RabbitMQ of this version does not have the store."""
    if store == "khepri" and parsed(version) < KHEPRI_BEGAN:
        raise SystemFault(
            f"RabbitMQ {version} has no Khepri, which came with 4.0: plan a later version"
        )
    if store == "mnesia" and parsed(version) >= MNESIA_ENDED:
        raise SystemFault(
            f"RabbitMQ {version} has no Mnesia, which ended with 4.3: plan an earlier version"
        )


def applied(store: str, rabbitmqctl: Rabbitmqctl, node: str) -> None:
    """Ensure that a running cluster uses the store; raise ``SystemFault`` if it cannot.

    A cluster can be switched to Khepri, but not back to Mnesia.
    """
    if parsed(rabbitmqctl.installation.version) < KHEPRI_BEGAN:
        return
    if store == "khepri" and _has_mnesia(rabbitmqctl, node):
        rabbitmqctl.call(node, "enable_feature_flag", "--opt-in", FLAG)
    if (store == "mnesia") != _has_mnesia(rabbitmqctl, node):
        raise SystemFault(
            f"RabbitMQ {rabbitmqctl.installation.version} does not have {store}, which was asked"
            " for: leave out metadata_store, or plan another version"
        )


def _has_mnesia(rabbitmqctl: Rabbitmqctl, node: str) -> bool:
    flags = json.loads(rabbitmqctl.call(node, "list_feature_flags", "--formatter", "json"))
    return {flag["name"]: flag["state"] for flag in flags}.get(FLAG) != "enabled"
