"""Run as ``python -m mqperf_nats.onhost.removal CONFIGURATION ADDRESSES STREAM...``.

Removes those of the streams that are there: a subscriber that was killed has left its own.  Who may
do that is read of the configuration of a server, ADDRESSES are of all, with commas between them.
"""

import json
import sys
from pathlib import Path

from mqperf_nats.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Broker, Lost, Refused

FAREWELL_S = 5.0


def names(connection: Connection) -> set[str]:
    """All streams; JetStream tells some of them at a time.  Raises ``Lost`` or ``Refused``."""
    there = set[str]()
    while True:
        told = json.loads(connection.call("STREAM", "NAMES", {"offset": len(there)}))
        there |= {*(told["streams"] or ())}
        if not told["streams"] or len(there) >= told["total"]:
            return there


def main(configuration: str, addresses: str, *streams: str) -> None:
    """Remove them; ends with the server's word where it refuses."""
    login = json.loads(Path(configuration).read_text(encoding="utf-8"))["authorization"]
    try:
        connection = Connection(Broker(addresses.split(","), login["user"], login["password"], ""))
        for name in names(connection) & {*streams}:
            connection.call("STREAM.DELETE", name, {})
        connection.close(FAREWELL_S)
    except (Lost, Refused) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
