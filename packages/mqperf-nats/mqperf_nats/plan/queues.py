"""Where messages of NATS are: in no place, or in streams of JetStream."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mqperf.plan.topologies import Queues


@dataclass(frozen=True, slots=True)
class Stream:
    """How a stream keeps its messages, and on how many nodes."""

    storage: Literal["memory", "file"]
    replicas: int


CORE = Queues(
    "core",
    ", core",
    " (core)",
    "-core",
    "Messages are in no queue: NATS hands them to whoever listens, at most once.",
)

STREAMS: Mapping[str, Stream] = {
    "jetstream-memory": Stream("memory", 1),
    "jetstream-file": Stream("file", 1),
    "jetstream-memory-r3": Stream("memory", 3),
    "jetstream-file-r3": Stream("file", 3),
}
"""By kind of queue."""


def _kind(name: str) -> Queues:
    stream = STREAMS[name]
    nodes = "one node" if stream.replicas == 1 else f"{stream.replicas} nodes"
    where = "in memory" if stream.storage == "memory" else "in files"
    words = f"JetStream {where}" + (f", R{stream.replicas}" if stream.replicas > 1 else "")
    sentence = f"Messages stay in streams of JetStream, {where} of {nodes}."
    return Queues(name, f", {words}", f" ({words})", f"-{name}", sentence, log=True)


MEMORY, FILE, MEMORY_R3, FILE_R3 = map(_kind, STREAMS)

REPLICATED = tuple(name for name, stream in STREAMS.items() if stream.replicas > 1)
