"""Black hole: every packet on the link is dropped, without any notice to its hosts."""

from mqperf_links.lab.on_link import on_link

ACTION = on_link(
    "black-hole",
    "silently dropping every packet",
    lambda cable, _: cable.swallow(),
)
