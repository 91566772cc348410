"""Run as ``python -m mqperf_nats.onhost.removal FILE``: remove streams, in whichever node is up.

The file is JSON, for its owner only: ``broker`` has the fields of a `Broker`, and ``streams`` are
their names.  A stream that is not there any more, or never was, is no error.
"""

import json
import sys
from pathlib import Path

from mqperf_nats.onhost.connection import Connection
from mqperf_numbered.onhost.managed_connections import Broker, Lost, Refused


def main() -> None:
    """Remove all; ends with the words of the server where it cannot be reached."""
    told = json.loads(Path(sys.argv[1]).read_text())
    try:
        connection = Connection(Broker(**told["broker"]))
        for stream in told["streams"]:
            remove(connection, stream)
    except (Lost, Refused) as error:
        sys.exit(str(error))


def remove(connection: Connection, stream: str) -> None:
    """Remove one; raises ``Refused`` unless it is gone."""
    try:
        connection.call("STREAM.DELETE", stream, {})
    except Refused as error:
        if "not found" not in str(error):
            raise


if __name__ == "__main__":
    main()
