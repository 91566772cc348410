"""The services of a process: each with a transport, an RPC server and RPC clients of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import oslo_messaging
from oslo_config import cfg

Handle = Callable[[float, int], str]
"""Handles a step of a creation, by its start and the number of the step; gives the reply."""


class Endpoint:
    """What a server offers to others."""

    def __init__(self, handle: Handle, fail: Callable[[float, str], None]) -> None:
        self._handle, self._fail = handle, fail

    def step(self, _context: object, creation: float, number: int, body: str) -> str:
        """A step; its body only has a length."""
        del body
        return self._handle(creation, number)

    def failed(self, _context: object, creation: float, reason: str) -> None:
        """The other side gives a creation up."""
        self._fail(creation, reason)


def configure(file: Path) -> None:
    """Read the options; the library registers some for the one ``cfg.CONF`` only."""
    cfg.CONF(["--config-file", str(file)], project="mqperf", default_config_files=[])


class Service:
    """One service, in the process of this number among those of its side."""

    def __init__(self, topic: str, name: str, number: int, endpoint: Endpoint) -> None:
        self._topic, self._number = topic, str(number)
        self._transport = oslo_messaging.get_rpc_transport(cfg.CONF)
        target = oslo_messaging.Target(topic=f"{topic}-{name}", server=self._number)
        self._server = oslo_messaging.get_rpc_server(
            self._transport, target, [endpoint], executor="eventlet"
        )
        self._clients: dict[str, Any] = {}

    def start(self) -> None:
        """Listen."""
        self._server.start()

    def stop(self) -> None:
        """Take no more messages, and close all connections."""
        self._server.stop()
        self._server.wait()
        self._transport.cleanup()

    def call(self, receiver: str, timeout_s: float, message: Mapping[str, object]) -> None:
        """Wait for the answer of the receiver in the process of our number at the other side."""
        client = self._client(receiver)
        client.prepare(server=self._number, timeout=timeout_s).call({}, "step", **message)

    def cast(self, receiver: str, message: Mapping[str, object], method: str = "step") -> None:
        """Wait for nobody."""
        self._client(receiver).prepare(server=self._number).cast({}, method, **message)

    def fan_out(self, receiver: str, message: Mapping[str, object]) -> None:
        """To the receivers in all processes."""
        self._client(receiver).prepare(fanout=True).cast({}, "step", **message)

    def _client(self, receiver: str) -> Any:  # noqa: ANN401 (a library without type hints)
        if receiver not in self._clients:
            target = oslo_messaging.Target(topic=f"{self._topic}-{receiver}")
            self._clients[receiver] = oslo_messaging.get_rpc_client(self._transport, target)
        return self._clients[receiver]
