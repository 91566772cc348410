"""Run as ``python -m mqperf_nats.onhost.management CONFIGURATION ADDRESSES ACTION WORD...``.

The action ``remove`` has streams as its words, and removes those that are there: a subscriber that
was killed has left its own.  ``await`` has seconds, and ends when a stream with a replica on every
server can be made by each of them: a follower may never log who leads JetStream, and answers before
the leader knows it.  Who may do that is read of the configuration of a server, ADDRESSES are of
all, with commas between them.
"""

import json
import sys
import time
from collections.abc import Sequence
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


def await_replicas(broker: Broker, replicas: int, deadline: float) -> None:
    """Return when a stream of so many replicas can be made by a server.

    Raises ``Lost`` or ``Refused`` after the ``deadline``, on the monotonic clock.
    """
    stream = {"name": PROBE, "subjects": [PROBE], "storage": "memory", "num_replicas": replicas}
    while True:
        try:
            connection = Connection(broker)
            connection.call("STREAM.CREATE", PROBE, stream)
            connection.call("STREAM.DELETE", PROBE, {})
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
            deadline = time.monotonic() + float(*words)
            for server in servers:
                broker = Broker([server], login["user"], login["password"], "")
                await_replicas(broker, len(servers), deadline)
    except (Lost, Refused) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
