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
"""Bytes of an envelope with its identifiers and nothing else."""

Bytes = Annotated[int, Field(ge=SHORTEST, le=MOST_BYTES)]


class Message(Frozen, populate_by_name=True):
    """One kind of message: ``each`` node sends, or gets, one every ``every_s``, or the cloud does.

    A call goes to any of the services of a topic, and its reply to the node that asked; a fan-out
    goes to all of a topic, a cast from controllers to one node after the other.
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
    def _hangs_together(self) -> Self:
        if (self.kind == "call") != (self.reply_bytes is not None):
            raise ValueError(f"{self.message}: a call has reply_bytes, and nothing else has")
        if self.from_node != (self.each == "node"):
            raise ValueError(f"{self.message}: what nodes send has a period of every node")
        if self.kind == "call" and not self.from_node:
            raise ValueError(f"{self.message}: calls are made by nodes")
        return self


class Matrix(Frozen):
    """All of them."""

    title: str
    messages: tuple[Message, ...] = Field(min_length=1, max_length=100)

    def deliveries_s(self, nodes: int) -> float:
        """Messages that are to be delivered in a second with so many nodes, replies included."""
        return sum(
            (nodes if message.each == "node" or message.to_nodes else 1)
            * (2 if message.kind == "call" else 1)
            / message.every_s
            for message in self.messages
        )


@cache
def matrix() -> Matrix:
    """That which ships."""
    return Matrix.model_validate(yaml.safe_load(MATRIX.read_text("utf-8")))


def request(message: Message) -> str:
    """An envelope as oslo.messaging sends it, of the length that the matrix says."""
    identifier = f"{hash_of(message.message):032x}"
    content: dict[str, object] = {
        "method": message.message,
        "version": "1.0",
        "_unique_id": identifier,
        **({"_msg_id": identifier, "_timeout": 60} if message.kind == "call" else {}),
    }
    return enveloped(content, message.request_bytes)


def reply(message: Message) -> str:
    """The envelope of its reply."""
    identifier = f"{hash_of(message.message):032x}"
    content: dict[str, object] = {
        "failure": None,
        "ending": True,
        "_msg_id": identifier,
        "_unique_id": identifier,
    }
    return enveloped(content, message.reply_bytes or SHORTEST)


def enveloped(content: dict[str, object], length: int) -> str:
    """The content in an envelope of version 2.0, filled up to so many bytes."""
    bare = _envelope({**content, "args": ""})
    return _envelope({**content, "args": "x" * (length - len(bare))})


def hash_of(text: str) -> int:
    """A number of 128 bits that stands for a text, the same in every process."""
    return int.from_bytes(text.encode().ljust(16)[:16], "big")


def _envelope(content: dict[str, object]) -> str:
    return json.dumps({"oslo.version": "2.0", "oslo.message": json.dumps(content)})
