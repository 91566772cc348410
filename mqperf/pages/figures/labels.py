"""Labels of topologies and kinds of queue, including those that only published reports have."""

from collections.abc import Iterable

from mqperf.plan.topologies import QUEUES, TOPOLOGIES, Queues, Topology


def topology(name: str) -> Topology:
    """Return the labels of a topology; one known only from a published report has its name."""
    return TOPOLOGIES.get(name) or Topology(name, name, name, f"The topology is {name}.")


def queues(name: str) -> Queues:
    """Return the labels of a kind of queue; one known only from a published report has its name."""
    unknown = Queues(name, f", {name} queues", f" ({name})", f"-{name}", f"Queues are {name}.")
    return QUEUES.get(name) or unknown


def kind(of_queues: str) -> str:
    """The kind of queue as a noun: ``quorum queues``, ``streams``."""
    return queues(of_queues).noun or f"{of_queues} queues"


def copied(name: str) -> bool:
    """Whether the kind is known to have copies of its messages on other nodes."""
    return name in QUEUES and bool(QUEUES[name].suffix)


def layout(of_topology: str, of_queues: str) -> str:
    """Return topology and kind of queue as a label: ``Client -> Master, Server -> Master (HA)``."""
    return topology(of_topology).label + queues(of_queues).label


def told_apart(layouts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Label each (topology, queues) distinctly: by the queues alone where there is one topology."""
    unique = dict.fromkeys(layouts)
    one_topology = len(unique) > 1 == len({topology for topology, _ in unique})
    return {key: kind(key[1]) if one_topology else layout(*key) for key in unique}


def order(of_topology: str, of_queues: str) -> tuple[int, int]:
    """Return the sort key of a layout: plain queues before replicated ones, unknown ones last."""
    kinds, topologies = list(QUEUES), list(TOPOLOGIES)
    return (
        kinds.index(of_queues) if of_queues in kinds else len(kinds),
        topologies.index(of_topology) if of_topology in topologies else len(topologies),
    )
