"""Run as ``python -m mqperf_amqp_0_9_1.onhost.declarations ORDERS``: one client of a load."""

import sys
from pathlib import Path

from mqperf_amqp_0_9_1.onhost.closed_loop import live
from mqperf_amqp_0_9_1.onhost.declarations.declarer import Declarer, read

if __name__ == "__main__":
    live(lambda: Declarer(read(Path(sys.argv[1]))))
