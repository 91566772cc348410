"""Disconnect: both ends of the link lose their carrier, which their hosts notice."""

from mqperf_links.lab.on_link import on_link

ACTION = on_link(
    "disconnect",
    "without carrier: its hosts notice, and packets under way are lost",
    lambda cable, _: cable.cut(),
)
