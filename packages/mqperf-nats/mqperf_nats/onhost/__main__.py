"""Run as ``python -m mqperf_nats.onhost ORDERS``: one client or server of a load."""

from mqperf_nats.onhost.orders import Orders
from mqperf_nats.onhost.publisher import Outlet
from mqperf_nats.onhost.subscriber import Inlet
from mqperf_numbered.onhost.pairs import live_as

if __name__ == "__main__":
    live_as("nats", Orders, Outlet, Inlet)
