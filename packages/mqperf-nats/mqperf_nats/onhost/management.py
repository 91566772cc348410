"""Run as ``python -m mqperf_nats.onhost.management CONFIGURATION ADDRESSES ACTION WORD...``.

The action ``remove`` has streams as its words, and removes those that are there: a subscriber that
was killed has left its own.  ``await`` has seconds, and ends when each server answers, and a stream
with a replica on every one can be made by each of them: a follower may never log who leads
JetStream, and answers before the leader knows it.  Who may do that is read of the configuration of
a server, ADDRESSES are of all, with commas between them.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mqperf_nats.onhost.connection import PAUSE_S, Connection
from mqperf_numbered.onhost.broker import Broker, Lost, Refused

FAREWELL_S = 5.0
PROBE = "mqperf-ready"


def names(connection: Connection) -> set[str]:
    """All streams; JetStream tells some of them at a time.  Raises ``Lost`` or ``Refused``."""
    there = set[str]()
    while True:
        told = json.loads(connection.call("STREAM", "NAMES", {"offset": len(there)}))
        there |= {*(told["streams"] or ())}
        if not told["streams"] or len(there) >= told["total"]:
            return there


def remove(broker: Broker, streams: Sequence[str]) -> None:
    """Remove the streams by any server.  Raises ``Lost`` or ``Refused``."""
    connection = Connection(broker)
    for name in names(connection) & {*streams}:
        connection.call("STREAM.DELETE", name, {})
    connection.close(FAREWELL_S)


def make_replicas(connection: Connection, replicas: int) -> None:
    """Make a stream of so many replicas, and remove it.  Raises ``Lost`` or ``Refused``."""
    stream = {"name": PROBE, "subjects": [PROBE], "storage": "memory", "num_replicas": replicas}
    connection.call("STREAM.CREATE", PROBE, stream)
    connection.call("STREAM.DELETE", PROBE, {})


def await_all(brokers: Sequence[Broker], deadline: float) -> None:
    """Return when each server answers, and a stream of all of them can be made by each.

    Raises ``Lost`` of the first that does not answer by the ``deadline``, on the monotonic clock,
    or what a server says then of the stream.
    """
    for broker in brokers:
        _retried(broker, deadline, lambda _connection: None)
    for broker in brokers:
        _retried(broker, deadline, lambda connection: make_replicas(connection, len(brokers)))


def _retried(broker: Broker, deadline: float, do: Callable[[Connection], None]) -> None:
    while True:
        try:
            connection = Connection(broker)
            do(connection)
            connection.close(FAREWELL_S)
        except (Lost, Refused):
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_S)
        else:
            return


def main(configuration: str, addresses: str, action: str, *words: str) -> None:
    """Do it; ends with the server's word where it refuses."""
    login = json.loads(Path(configuration).read_text(encoding="utf-8"))["authorization"]
    servers = addresses.split(",")
    try:
        if action == "remove":
            remove(Broker(servers, login["user"], login["password"], ""), words)
        else:
            each = [Broker([server], login["user"], login["password"], "") for server in servers]
            await_all(each, time.monotonic() + float(*words))
    except (Lost, Refused) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
