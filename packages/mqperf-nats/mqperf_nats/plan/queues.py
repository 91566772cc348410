"""Kinds of queues of NATS: core NATS, which keeps no messages, and streams of JetStream."""

from collections.abc import Mapping
from typing import Any

from mqperf.plan.topologies import Queues

NOWHERE = "Messages are in no queue: NATS hands them to whoever listens, at most once."
CORE = Queues("core", ", core", " (core)", "-core", NOWHERE, noun="core NATS")

STREAMS: Mapping[str, Mapping[str, Any]] = {
    "jetstream-memory": {"storage": "memory", "num_replicas": 1},
    "jetstream-file": {"storage": "file", "num_replicas": 1},
    "jetstream-memory-r3": {"storage": "memory", "num_replicas": 3},
    "jetstream-file-r3": {"storage": "file", "num_replicas": 3},
}
"""The configuration of JetStream's streams, by kind of queue."""

REPLICATED = tuple(name for name, stream in STREAMS.items() if stream["num_replicas"] > 1)


def _kind(name: str) -> Queues:
    where = "in memory" if STREAMS[name]["storage"] == "memory" else "in files"
    nodes, short = ("3 nodes", ", R3") if name in REPLICATED else ("one node", "")
    title = f"JetStream {where}{short}"
    sentence = f"Messages stay in streams of JetStream, {where} of {nodes}."
    return Queues(name, f", {title}", f" ({title})", f"-{name}", sentence, log=True, noun=title)


MEMORY, FILE, MEMORY_R3, FILE_R3 = map(_kind, STREAMS)
