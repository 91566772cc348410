"""Which connections there are, what is sent on each and which queues each consumes.

Every node has a connection to send and one to listen, as the driver of oslo.messaging has at least.
Controllers have some, too.  Nodes are dealt out to the processes of a load.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mqperf.base.errors import LoadError
from mqperf.plan import Case
from mqperf_openstack.plan.compute_nodes import of_case
from mqperf_openstack.plan.matrix import Message, matrix

NODES_OF_A_CONTROLLER = 100
"""Nodes whose replies go over one connection: as many as one conductor may serve."""

PROCESSING_S = 0.02
"""How long after its request a reply is due: an assumption."""

GOLDEN = 0.618
"""Share of its period by which each kind begins after the one before, so that none coincide."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Of one case: exchanges and queues begin with its key."""

    key: str
    nodes: int
    pace: float
    processes: int

    def own(self, process: int) -> range:
        """The nodes of a process, from 0; processes count from 1."""
        return range(process - 1, self.nodes, self.processes)

    def senders(self, process: int) -> Iterator[list[dict[str, Any]]]:
        """By connection, the flows that a client sends."""
        kinds = list(enumerate(matrix().messages))
        for node in self.own(process):
            yield [self._flow(number, kind, node) for number, kind in kinds if kind.from_node]
        nodes = self.own(process)
        for first in range(0, len(nodes), NODES_OF_A_CONTROLLER):
            part = nodes[first : first + NODES_OF_A_CONTROLLER]
            yield [
                *(
                    self._reply(n, kind, i)
                    for n, kind in kinds
                    if kind.kind == "call"
                    for i in part
                ),
                *(self._flow(n, kind, i) for n, kind in kinds if kind.kind == "cast" for i in part),
                *(
                    self._flow(number, kind, 0)
                    for number, kind in kinds
                    if kind.to_nodes and (process, first) == (1, 0)
                ),
            ]

    def boxes(self, process: int) -> Iterator[list[dict[str, Any]]]:
        """By connection, the queues that a server declares, binds and consumes."""
        messages = matrix().messages
        for node in self.own(process):
            casts = dict.fromkeys(
                (message.exchange, message.topic) for message in messages if _to_one(message)
            )
            fan_outs = dict.fromkeys(message.topic for message in messages if message.to_nodes)
            yield [
                self._box(self._reply_queue(node), "", "direct"),
                *(self._topic_box(exchange, _at(topic, node)) for exchange, topic in casts),
                *(self._fan_out_box(topic, node, copy=node + 1) for topic in fan_outs),
            ]
        asked = dict.fromkeys(
            (message.exchange, message.topic) for message in messages if message.kind == "call"
        )
        node_fan_outs = dict.fromkeys(
            message.topic for message in messages if message.fan_out and message.from_node
        )
        yield [
            *(self._topic_box(exchange, topic) for exchange, topic in asked),
            *(self._fan_out_box(topic, None) for topic in node_fan_outs if process == 1),
        ]

    def queues(self) -> list[str]:
        """All of them."""
        boxes = (
            box
            for process in range(1, self.processes + 1)
            for line in self.boxes(process)
            for box in line
        )
        return list(dict.fromkeys(box["queue"] for box in boxes))

    def _flow(self, number: int, kind: Message, node: int) -> dict[str, Any]:
        """Requests of a kind, from a node or to it; what goes to all is no single node's."""
        topic = _at(kind.topic, node) if _to_one(kind) else kind.topic
        shared = self.nodes if _to_one(kind) else 1  # in turn
        return {
            "number": number * self.nodes + node,
            "exchange": self._fan_out(topic) if kind.fan_out else f"{self.key}.{kind.exchange}",
            "routing_key": "" if kind.fan_out else topic,
            "rate": self.pace / kind.every_s / shared,
            "phase": self._phase(number, node),
            "body": number,
            "copies": self.nodes if kind.to_nodes else 0,
        }

    def _reply(self, number: int, kind: Message, node: int) -> dict[str, Any]:
        """The replies to the calls of a node: due when its calls have been handled."""
        asked, kinds = self._flow(number, kind, node), len(matrix().messages)
        return asked | {
            "number": (kinds + number) * self.nodes + node,
            "exchange": "",
            "routing_key": self._reply_queue(node),
            "phase": asked["phase"] + PROCESSING_S * asked["rate"],
            "body": kinds + number,
        }

    def _phase(self, number: int, node: int) -> float:
        return (node / self.nodes + GOLDEN * number) % 1.0

    def _topic_box(self, exchange: str, topic: str) -> dict[str, Any]:
        return self._box(f"{self.key}.{topic}", f"{self.key}.{exchange}", "topic", topic)

    def _fan_out_box(self, topic: str, node: int | None, *, copy: int = 0) -> dict[str, Any]:
        name = self._fan_out(topic if node is None else _at(topic, node))
        return self._box(f"{name}_1", self._fan_out(topic), "fanout") | {"copy": copy}

    def _box(self, queue: str, exchange: str, kind: str, routing_key: str = "") -> dict[str, Any]:
        box = {"queue": queue, "exchange": exchange, "exchange_type": kind}
        return box | {"routing_key": routing_key, "copy": 0}

    def _reply_queue(self, node: int) -> str:
        return f"{self.key}.reply_{node + 1:05d}"

    def _fan_out(self, topic: str) -> str:
        return f"{self.key}.{topic}_fanout"


def layout_of(case: Case, key: str) -> Layout:
    """That of a case; raises ``LoadError`` for threads, which nodes have none of."""
    if case.green_threads != 1:
        raise LoadError(
            f"compute nodes have no threads: set green_threads to 1, got {case.green_threads}, and"
            " say compute_nodes; processes share the nodes"
        )
    parameters, processes = of_case(case), case.processes * case.hosts
    if parameters.compute_nodes < processes:
        raise LoadError(
            f"{parameters.compute_nodes} compute nodes are too few for {processes} processes: each"
            " has one or more, so ask for more nodes, or for fewer processes or hosts"
        )
    return Layout(key, parameters.compute_nodes, parameters.pace, processes)


def queues(case: Case, key: str) -> list[str]:
    """All queues of a load."""
    return layout_of(case, key).queues()


def _to_one(kind: Message) -> bool:
    """Whether controllers send it to a single node."""
    return kind.kind == "cast" and not kind.from_node


def _at(topic: str, node: int) -> str:
    return f"{topic}.compute-{node + 1:05d}"
