"""Run as ``python -m mqperf_streams.onhost ORDERS``: one client or server of a load."""

from mqperf_numbered.onhost.pairs import live_as
from mqperf_streams.onhost.consumer import Inlet
from mqperf_streams.onhost.orders import Orders
from mqperf_streams.onhost.publisher import Outlet

if __name__ == "__main__":
    live_as("rabbitmq-stream", Orders, Outlet, Inlet)
