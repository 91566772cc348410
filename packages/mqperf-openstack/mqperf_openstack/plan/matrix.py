"""The traffic matrix: who sends what to whom, how often, and how large."""

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, model_validator

from mqperf.plan import Frozen
from mqperf.plan.file.attached import MOST_BYTES

MATRIX = Path(__file__).with_name("traffic.yaml")

SHORTEST = 400
"""Least size of a message: bytes of an envelope that has only its identifiers."""

Bytes = Annotated[int, Field(ge=SHORTEST, le=MOST_BYTES)]


class Message(Frozen, populate_by_name=True):
    """A kind of message, sent every ``every_s`` by, or to, each node or the whole cloud (``each``).

    A call goes to any one of the services of a topic, and its reply to the calling node; a fan-out
    goes to all of a topic; a cast from controllers goes to one node after the other.
    """

    message: str = Field(min_length=1, max_length=100)
    kind: Literal["call", "cast", "fan-out"]
    sender: Literal["node", "controller"] = Field(alias="from")
    topic: str = Field(alias="to", min_length=1, max_length=50)
    exchange: Literal["nova", "neutron"]
    every_s: float = Field(gt=0)
    each: Literal["node", "cloud"] = "node"
    request_bytes: Bytes
    reply_bytes: Bytes | None = None
    option: str
    source: str

    @property
    def from_node(self) -> bool:
        """Whether nodes send it."""
        return self.sender == "node"

    @property
    def fan_out(self) -> bool:
        """Whether all of a topic get it."""
        return self.kind == "fan-out"

    @property
    def to_nodes(self) -> bool:
        """Whether all nodes get it."""
        return self.fan_out and not self.from_node

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if (self.kind == "call") != (self.reply_bytes is not None):
            raise ValueError(f"{self.message}: a call has reply_bytes, and nothing else has")
        if self.from_node != (self.each == "node"):
            raise ValueError(f"{self.message}: what nodes send has a period of every node")
        if self.kind == "call" and not self.from_node:
            raise ValueError(f"{self.message}: calls are made by nodes")
        return self


class Matrix(Frozen):
    """All kinds of messages."""

    title: str
    messages: tuple[Message, ...] = Field(min_length=1, max_length=100)

    def deliveries_s(self, nodes: int) -> float:
        """Return the deliveries per second with this number of nodes, replies included."""
        return sum(
            (nodes if message.each == "node" or message.to_nodes else 1)
            * (2 if message.kind == "call" else 1)
            / message.every_s
            for message in self.messages
        )


@cache
def matrix() -> Matrix:
    """Return the shipped traffic matrix."""
    return Matrix.model_validate(yaml.safe_load(MATRIX.read_text("utf-8")))


def request(message: Message) -> str:
    """Return a request's envelope as oslo.messaging sends it, with the length in the matrix."""
    identifier = f"{hash_of(message.message):032x}"
    content: dict[str, object] = {
        "method": message.message,
        "version": "1.0",
        "_unique_id": identifier,
        **({"_msg_id": identifier, "_timeout": 60} if message.kind == "call" else {}),
    }
    return enveloped(content, message.request_bytes)


def reply(message: Message) -> str:
    """Return the envelope of a message's reply."""
    identifier = f"{hash_of(message.message):032x}"
    content: dict[str, object] = {
        "failure": None,
        "ending": True,
        "_msg_id": identifier,
        "_unique_id": identifier,
    }
    return enveloped(content, message.reply_bytes or SHORTEST)


def enveloped(content: dict[str, object], length: int) -> str:
    """Return the content in an envelope of version 2.0, padded to a length in bytes."""
    bare = _envelope({**content, "args": ""})
    return _envelope({**content, "args": "x" * (length - len(bare))})


def hash_of(text: str) -> int:
    """Return a 128-bit number made of a text, the same in every process."""
    return int.from_bytes(text.encode().ljust(16)[:16], "big")


def _envelope(content: dict[str, object]) -> str:
    return json.dumps({"oslo.version": "2.0", "oslo.message": json.dumps(content)})
