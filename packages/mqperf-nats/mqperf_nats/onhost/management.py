"""Run as ``python -m mqperf_nats.onhost.management CONFIGURATION ADDRESSES ACTION WORD...``.

``remove STREAM...`` removes those of the streams that exist, which killed subscribers have left.
``await SECONDS`` waits until each server answers, and can create a stream with a replica on every
server: logs do not suffice, as a follower may never log the leader of JetStream, and answers before
the leader knows it.  CONFIGURATION is that of a server, from which the login is read; ADDRESSES are
those of all servers, separated by commas.
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
    """Return all streams, which JetStream lists in pages.  Raises ``Lost`` or ``Refused``."""
    streams = set[str]()
    while True:
        page = json.loads(connection.call("STREAM", "NAMES", {"offset": len(streams)}))
        streams |= {*(page["streams"] or ())}
        if not page["streams"] or len(streams) >= page["total"]:
            return streams


def remove(broker: Broker, streams: Sequence[str]) -> None:
    """Remove those of the streams that exist, by any server.  Raises ``Lost`` or ``Refused``."""
    connection = Connection(broker)
    for name in names(connection) & {*streams}:
        connection.call("STREAM.DELETE", name, {})
    connection.close(FAREWELL_S)


def make_replicas(connection: Connection, replicas: int) -> None:
    """Create a stream of so many replicas, and remove it.  Raises ``Lost`` or ``Refused``."""
    stream = {"name": PROBE, "subjects": [PROBE], "storage": "memory", "num_replicas": replicas}
    connection.call("STREAM.CREATE", PROBE, stream)
    connection.call("STREAM.DELETE", PROBE, {})


def await_all(brokers: Sequence[Broker], deadline: float) -> None:
    """Wait until each server answers, and can create a stream with a replica on every server.

    After the ``deadline``, on the monotonic clock, raises a server's last ``Lost`` or ``Refused``.
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
    """Perform the action; exit with the server's message if it fails."""
    login = json.loads(Path(configuration).read_text(encoding="utf-8"))["authorization"]
    servers = addresses.split(",")
    try:
        if action == "remove":
            remove(Broker(servers, login["user"], login["password"], ""), words)
        else:
            brokers = [Broker([server], login["user"], login["password"], "") for server in servers]
            await_all(brokers, time.monotonic() + float(*words))
    except (Lost, Refused) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
