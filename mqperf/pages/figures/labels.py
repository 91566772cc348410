"""How topologies and kinds of queue are called, those that no plan of ours has as well."""

from collections.abc import Iterable

from mqperf.plan.topologies import QUEUES, TOPOLOGIES, Queues, Topology


def topology(name: str) -> Topology:
    """The topology's words; a published report's own topology goes by its name."""
    return TOPOLOGIES.get(name) or Topology(name, name, name, f"The topology is {name}.")


def queues(name: str) -> Queues:
    """The words for a kind of queue; one that is known from a published report by its name."""
    unknown = Queues(name, f", {name} queues", f" ({name})", f"-{name}", f"Queues are {name}.")
    return QUEUES.get(name) or unknown


def kind(of_queues: str) -> str:
    """The kind of queue as a noun: ``quorum queues``, ``streams``."""
    return queues(of_queues).noun or f"{of_queues} queues"


def copied(name: str) -> bool:
    """Whether the kind is known to have copies of its messages on other nodes."""
    return name in QUEUES and bool(QUEUES[name].suffix)


def layout(of_topology: str, of_queues: str) -> str:
    """Both in a few words: ``Client -> Master, Server -> Master (HA)``."""
    return topology(of_topology).label + queues(of_queues).label


def told_apart(layouts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Words for each topology with its queues: the queues alone where the topology is one."""
    every = dict.fromkeys(layouts)
    alone = len(every) > 1 == len({topology for topology, _ in every})
    return {
        (place, queues): kind(queues) if alone else layout(place, queues) for place, queues in every
    }


def order(of_topology: str, of_queues: str) -> tuple[int, int]:
    """Where a layout stands among the others: plain queues before replicated ones."""
    kinds, places = list(QUEUES), list(TOPOLOGIES)
    return (
        kinds.index(of_queues) if of_queues in kinds else len(kinds),
        places.index(of_topology) if of_topology in places else len(places),
    )
