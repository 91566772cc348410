"""The services of a process: each with a transport, an RPC server and RPC clients of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import oslo_messaging
from oslo_config import cfg

Handle = Callable[[float, int], str]
"""Handler of a step: takes the start of its creation and the step's number, returns the reply."""


class Endpoint:
    """The RPC methods of a server."""

    def __init__(self, handle: Handle, fail: Callable[[float, str], None]) -> None:
        self._handle, self._fail = handle, fail

    def step(self, _context: object, creation: float, number: int, body: str) -> str:
        """Handle a step; only the length of its body matters."""
        del body
        return self._handle(creation, number)

    def failed(self, _context: object, creation: float, reason: str) -> None:
        """End a creation that the other side gave up."""
        self._fail(creation, reason)


def configure(file: Path) -> None:
    """Read the options into ``cfg.CONF``, the only one for which the library registers some."""
    cfg.CONF(["--config-file", str(file)], project="mqperf", default_config_files=[])


class Service:
    """One service; ``number`` is that of its process among the processes of its side."""

    def __init__(self, topic: str, name: str, number: int, endpoint: Endpoint) -> None:
        self._topic, self._number = topic, str(number)
        self._transport = oslo_messaging.get_rpc_transport(cfg.CONF)
        target = oslo_messaging.Target(topic=f"{topic}-{name}", server=self._number)
        self._server = oslo_messaging.get_rpc_server(
            self._transport, target, [endpoint], executor="eventlet"
        )
        self._clients: dict[str, Any] = {}

    def start(self) -> None:
        """Start the RPC server."""
        self._server.start()

    def stop(self) -> None:
        """Stop the RPC server, and close all connections."""
        self._server.stop()
        self._server.wait()
        self._transport.cleanup()

    def call(self, receiver: str, timeout_s: float, message: Mapping[str, object]) -> None:
        """Call the receiver in the process of our number at the other side; wait for its reply."""
        client = self._client(receiver)
        client.prepare(server=self._number, timeout=timeout_s).call({}, "step", **message)

    def cast(self, receiver: str, message: Mapping[str, object], method: str = "step") -> None:
        """Send a message to the same process, without waiting for a reply."""
        self._client(receiver).prepare(server=self._number).cast({}, method, **message)

    def fan_out(self, receiver: str, message: Mapping[str, object]) -> None:
        """Send a message to the receivers in all processes."""
        self._client(receiver).prepare(fanout=True).cast({}, "step", **message)

    def _client(self, receiver: str) -> Any:  # noqa: ANN401 (a library without type hints)
        if receiver not in self._clients:
            target = oslo_messaging.Target(topic=f"{self._topic}-{receiver}")
            self._clients[receiver] = oslo_messaging.get_rpc_client(self._transport, target)
        return self._clients[receiver]
