"""Connections that are opened again after they are lost."""

from types import SimpleNamespace
from typing import Any

from typing_extensions import override

from mqperf_numbered.onhost.broker import Lost
from mqperf_numbered.onhost.managed_connections import ManagedConnection


class Fleeting(ManagedConnection[Any]):
    """A connection that ends with what follows the last answer."""

    @override
    def prepare(self, connection: object) -> None:
        """Nothing is to be set up."""

    @override
    def read(self, connection: object) -> None:
        raise Lost("the leader is another now")


def test_a_connection_that_ends_while_it_is_opened_is_lost() -> None:
    """It is neither kept nor left out of the diary."""
    events: list[tuple[str, dict[str, str]]] = []
    forgotten: list[object] = []
    diary: Any = SimpleNamespace(happened=lambda what, **more: events.append((what, more)))
    waiting: Any = SimpleNamespace(watch=lambda *_, **__: None, forget=forgotten.append)
    socket = SimpleNamespace(close=lambda: None)
    opened: Any = SimpleNamespace(socket=socket, drained=True, flowing=lambda: None)
    connection = Fleeting(waiting, diary, lambda: opened)
    now: Any = SimpleNamespace(over=True)
    connection.back_off = now
    connection.look_after()
    assert connection.connection is None
    assert forgotten == [opened]
    assert events == [("disconnected", {"why": "the leader is another now"})]
