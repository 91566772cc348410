"""Run as ``python -m mqperf_activemq.onhost ORDERS``: one client or server of a load."""

import json
import sys
from pathlib import Path

from mqperf_activemq.onhost.consumer import Inlet
from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.publisher import Outlet
from mqperf_numbered.onhost.pairs import live_as

if __name__ == "__main__":
    live_as(json.loads(Path(sys.argv[1]).read_text())["protocol"], Orders, Outlet, Inlet)
