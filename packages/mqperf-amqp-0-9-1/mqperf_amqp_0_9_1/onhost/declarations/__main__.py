"""Run as ``python -m mqperf_amqp_0_9_1.onhost.declarations ORDERS``: one client of a load."""

import sys
from pathlib import Path

from mqperf.onhost.load.capped_log import CappedLog
from mqperf_amqp_0_9_1.onhost.declarations.declarer import Declarer, read

LOG_BYTES = 1_000_000


def main() -> None:
    """Be the client that the orders say, under a capped log."""
    log = CappedLog(sys.stdout, LOG_BYTES)
    vars(sys).update(stdout=log, stderr=log)
    declarer = Declarer(read(Path(sys.argv[1])))
    try:
        declarer.run()
    finally:
        declarer.save()
        log.finish()


if __name__ == "__main__":
    main()
