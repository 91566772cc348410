"""Black hole: every packet on the link is dropped, without any notice to its hosts."""

from mqperf_links.lab.on_link import on_link

ACTION = on_link(
    "black-hole",
    "swallowing every packet, of which its hosts learn nothing",
    lambda cable, _: cable.swallow(),
)
