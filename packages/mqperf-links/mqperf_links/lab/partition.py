"""Partition: a node is cut off from all other nodes, while clients still reach it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from mqperf.base.errors import SystemFault
from mqperf.lab.actions.action import Action, ActionFacts, Target
from mqperf_links.lab import sink
from mqperf_links.lab.sink import Sink


def check(target: Target) -> None:
    """Raise ``SystemFault`` for a node without a host of its own, and where we lack permission."""
    host, others = target.host, target.others
    if host is None or not others or host.address in {other.address for other in others}:
        raise SystemFault(
            f"partition: {target.label} has no host of its own, apart from all other nodes:"
            " it needs hosts: laboratory, or an inventory with a host for each node"
        )
    if (why := sink.obstacle(host)) is not None:
        raise SystemFault(f"partition: {target.label} cannot be cut off on {host.name}: {why}")


def prepared(target: Target) -> AbstractContextManager[object]:
    """Create a device on the node's host that drops packets."""
    return nullcontext() if target.host is None else sink.made(target.host)


@contextmanager
def applied(target: Target) -> Iterator[ActionFacts]:
    """Drop every packet to the hosts of other nodes, and so the answers to theirs."""
    if isinstance(device := target.prepared, Sink):
        try:
            device.swallow(target.others)
            yield {}
        finally:
            device.restore()


ACTION = Action(
    "partition",
    "silently cut off from all other nodes",
    check,
    applied,
    renews=True,
    prepared=prepared,
)
