"""The connections of a load, what is sent on each, and which queues each consumes.

Every node has a connection to send and one to listen: the minimum of oslo.messaging's driver.
Controllers have connections, too.  Nodes are dealt out to the processes of a load in turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mqperf.base.errors import LoadError
from mqperf.plan import Case
from mqperf_openstack.plan.compute_nodes import of_case
from mqperf_openstack.plan.matrix import Message, matrix

NODES_OF_A_CONTROLLER = 100
"""Nodes whose replies share one connection: as many as one conductor may serve."""

PROCESSING_S = 0.02
"""Delay of a reply after its request, in seconds: an assumption."""

GOLDEN = 0.618
"""Phase shift from one kind of message to the next, in periods, so that no two kinds coincide."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of one case; the names of its exchanges and queues begin with ``key``."""

    key: str
    nodes: int
    pace: float
    processes: int

    def own(self, process: int) -> range:
        """Return the nodes of a process; nodes count from 0, processes from 1."""
        return range(process - 1, self.nodes, self.processes)

    def senders(self, process: int) -> Iterator[list[dict[str, Any]]]:
        """Yield, for each connection of a client, the flows that it sends."""
        messages = list(enumerate(matrix().messages))
        calls = [(number, message) for number, message in messages if message.kind == "call"]
        casts = [(number, message) for number, message in messages if message.kind == "cast"]
        nodes = self.own(process)
        for node in nodes:
            yield [self._flow(n, message, node) for n, message in messages if message.from_node]
        for first in range(0, len(nodes), NODES_OF_A_CONTROLLER):
            group = nodes[first : first + NODES_OF_A_CONTROLLER]
            yield [
                *(self._reply(number, call, node) for number, call in calls for node in group),
                *(self._flow(number, cast, node) for number, cast in casts for node in group),
                *(
                    self._flow(number, message, 0)
                    for number, message in messages
                    if message.to_nodes and (process, first) == (1, 0)
                ),
            ]

    def boxes(self, process: int) -> Iterator[list[dict[str, Any]]]:
        """Yield, for each connection of a server, the queues that it declares, binds, consumes."""
        messages = matrix().messages
        for node in self.own(process):
            casts = dict.fromkeys(
                (message.exchange, message.topic) for message in messages if _is_unicast(message)
            )
            fan_outs = dict.fromkeys(message.topic for message in messages if message.to_nodes)
            yield [
                self._box(self._reply_queue(node), "", "direct"),
                *(self._topic_box(exchange, _at(topic, node)) for exchange, topic in casts),
                *(self._fan_out_box(topic, node, copy=node + 1) for topic in fan_outs),
            ]
        call_topics = dict.fromkeys(
            (message.exchange, message.topic) for message in messages if message.kind == "call"
        )
        node_fan_outs = dict.fromkeys(
            message.topic for message in messages if message.fan_out and message.from_node
        )
        yield [
            *(self._topic_box(exchange, topic) for exchange, topic in call_topics),
            *(self._fan_out_box(topic, None) for topic in node_fan_outs if process == 1),
        ]

    def queues(self) -> list[str]:
        """Return the names of all queues."""
        boxes = (
            box
            for process in range(1, self.processes + 1)
            for connection in self.boxes(process)
            for box in connection
        )
        return list(dict.fromkeys(box["queue"] for box in boxes))

    def _flow(self, number: int, message: Message, node: int) -> dict[str, Any]:
        """Return the flow of a kind of message from or to a node; fan-outs to all have node 0."""
        topic = _at(message.topic, node) if _is_unicast(message) else message.topic
        receivers = self.nodes if _is_unicast(message) else 1  # nodes that get it in turn
        exchange = f"{self.key}.{message.exchange}"
        return {
            "number": number * self.nodes + node,
            "exchange": self._fan_out(topic) if message.fan_out else exchange,
            "routing_key": "" if message.fan_out else topic,
            "rate": self.pace / message.every_s / receivers,
            "phase": self._phase(number, node),
            "body": number,
            "copies": self.nodes if message.to_nodes else 0,
        }

    def _reply(self, number: int, call: Message, node: int) -> dict[str, Any]:
        """Return the flow of replies to a node's calls, each due when its call was handled."""
        request, kinds = self._flow(number, call, node), len(matrix().messages)
        return request | {
            "number": (kinds + number) * self.nodes + node,
            "exchange": "",
            "routing_key": self._reply_queue(node),
            "phase": request["phase"] + PROCESSING_S * request["rate"],
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
    """Return the layout of a case; raise ``LoadError`` for threads, which nodes do not have."""
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
    """Return the names of all queues of a load."""
    return layout_of(case, key).queues()


def _is_unicast(message: Message) -> bool:
    """Whether controllers send it to a single node."""
    return message.kind == "cast" and not message.from_node


def _at(topic: str, node: int) -> str:
    return f"{topic}.compute-{node + 1:05d}"
